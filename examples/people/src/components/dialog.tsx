import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A modal dialog that is open for as long as it is rendered. `children` are given what closes it. */
export function Dialog(props: { title: string; onClose(): void; children(close: () => void): ReactNode }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = () => {
    // Closed before it is taken away, so that the focus goes back to where it was.
    dialog.current?.close();
    // At once: by the time of the event somebody may have asked to open it again.
    props.onClose();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children(close)}
    </dialog>
  );
}
