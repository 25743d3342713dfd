import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A modal dialog. It is open as long as it is rendered. `children` gets a function that closes the dialog. */
export function Dialog(props: { title: string; onClose(): void; children(close: () => void): ReactNode }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = () => {
    // The dialog is closed before it is removed, so that the focus returns to the element that had it.
    dialog.current?.close();
    // `onClose` is called immediately, because the user can open the dialog again before the `close` event arrives.
    props.onClose();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children(close)}
    </dialog>
  );
}
