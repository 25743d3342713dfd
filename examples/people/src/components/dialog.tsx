import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A modal dialog that is open for as long as it is rendered. `children` gets a function that closes it. */
export function Dialog(props: { title: string; onClose(): void; children(close: () => void): ReactNode }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = () => {
    // Closed before it is removed, so that the focus goes back to where it was.
    dialog.current?.close();
    // Called immediately: before the `close` event comes, somebody may have opened it again.
    props.onClose();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children(close)}
    </dialog>
  );
}
