import { useFolderActions } from '../hooks/use-folders.ts';
import { SubmitButton } from './submit-button.tsx';

/** A form with the name of a new folder, which is created in the folder `parentId`. */
export function NewFolder({ parentId }: { parentId: string }) {
  const { create } = useFolderActions();
  return (
    <form className="new-folder" action={(form) => create(parentId, String(form.get('name')))}>
      <input
        name="name"
        aria-label="Name of the new folder"
        placeholder="New folder"
        required
        maxLength={200}
      />
      <SubmitButton look="secondary" icon="plus">
        Add
      </SubmitButton>
    </form>
  );
}
