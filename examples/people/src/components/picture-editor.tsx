import { type ChangeEvent, useRef } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useKith } from '../hooks/use-kith.ts';
import { usePictureUpload } from '../hooks/use-picture-upload.ts';
import { useProfileUpdate } from '../hooks/use-profile.ts';
import { useUser } from '../hooks/use-session.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';

/** The signed-in user's picture, and ways to change or remove it. */
export function PictureEditor() {
  const kith = useKith();
  const user = useUser();
  const update = useProfileUpdate();
  const input = useRef<HTMLInputElement>(null);
  const { progress, problem, start, cancel } = usePictureUpload();
  const remove = useAction(async () => {
    const { avatarFileId: fileId } = user;
    await update({ avatarFileId: null });
    if (fileId) await kith.storage.deleteFile({ fileId });
  });
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) void start(file);
    // The input is cleared. Otherwise, choosing the same file again would cause no `change` event.
    target.value = '';
  };
  const percent = Math.round((progress ?? 0) * 100);
  return (
    <div className="picture">
      <Avatar person={user} size="l" />
      <div className="picture-side">
        <input
          ref={input}
          type="file"
          accept="image/jpeg,image/png,image/webp,image/gif,image/avif"
          aria-label="Picture"
          hidden
          onChange={choose}
        />
        {progress === undefined ? (
          <div className="picture-actions">
            <Button icon="camera" onClick={() => input.current?.click()}>
              {user.avatar ? 'Change picture' : 'Add a picture'}
            </Button>
            {user.avatar && (
              <Button look="quiet" disabled={remove.isBusy} onClick={() => void remove.run()}>
                Remove picture
              </Button>
            )}
          </div>
        ) : (
          <div className="picture-actions">
            <progress aria-label="Upload" max={100} value={percent} />
            <span className="picture-percent">{percent < 100 ? `${percent} %` : 'Almost there …'}</span>
            <Button look="quiet" onClick={cancel}>
              Cancel
            </Button>
          </div>
        )}
        {problem === undefined ? (
          <p className="hint">
            JPEG, PNG, WebP, GIF or AVIF, up to 50 MB. The place where it was taken is not stored.
          </p>
        ) : (
          <p className="hint wrong" role="alert">
            {problem}
          </p>
        )}
      </div>
    </div>
  );
}
