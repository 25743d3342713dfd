import { type Collection, isKithError } from '@kith/client';
import { useFolderActions } from '../hooks/use-folders.ts';
import { usePerson } from '../hooks/use-people.ts';
import { nameOf } from '../lib/people.ts';
import { hrefOf } from '../lib/routes.ts';
import { timeAgo } from '../lib/times.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

/** A person who is saved in a folder. The person's profile is loaded, so it is up to date. */
export function SavedPerson(props: { userId: string; addedAt: string; folder: Collection }) {
  const { userId, addedAt, folder } = props;
  const { data: person, error } = usePerson(userId);
  const { unsave } = useFolderActions();
  const isGone = isKithError(error, 'user/not-found');
  const problem = !person && !isGone && error !== undefined && (
    <Problem error={error} topic="profiles" isCompact />
  );
  const name = person ? nameOf(person) : isGone ? 'Not here any more' : '…';
  const shown = person ?? { id: userId, name: '?', username: null, avatar: null };
  return (
    <li className="card person">
      <Avatar person={shown} />
      <div className="person-text">
        {person ? (
          <a className="person-name" href={hrefOf({ page: 'person', id: userId })}>
            {name}
          </a>
        ) : (
          problem || <span className="muted">{name}</span>
        )}
        <p className="person-note">Saved {timeAgo(addedAt)}</p>
      </div>
      <div className="person-actions">
        <Button
          look="quiet"
          icon="close"
          iconOnly
          aria-label={`Take ${name} out of ${folder.name}`}
          onClick={() => void unsave(folder.id, userId)}
        />
      </div>
    </li>
  );
}
