import { isKithError } from '@kith/client';
import { Avatar } from '../components/avatar.tsx';
import { BlockButton } from '../components/block-button.tsx';
import { Empty } from '../components/empty.tsx';
import { Icon } from '../components/icon.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { Problem } from '../components/problem.tsx';
import { RelationActions } from '../components/relation-actions.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { useConnectionCount, usePerson } from '../hooks/use-people.ts';
import { useUser } from '../hooks/use-session.ts';
import { hueOf, nameOf } from '../lib/people.ts';
import { hrefOf } from '../lib/routes.ts';

/** One person's profile, with all actions on the relation to this person. */
export function PersonPage({ userId }: { userId: string }) {
  const { data: person, error } = usePerson(userId);
  const { data: connections } = useConnectionCount(userId);
  const isSelf = useUser().id === userId;
  if (isKithError(error, 'user/not-found'))
    return <Empty icon="people" title="This person is not here any more" />;
  if (!person)
    return error === undefined ? <Skeleton count={1} /> : <Problem error={error} topic="profiles" />;
  return (
    <article className="profile card">
      <div className="profile-band" style={{ '--hue': hueOf(person.id) }} />
      <Avatar person={person} size="l" />
      <PageHeading title={nameOf(person)} />
      <p className="profile-facts muted">
        {person.username && <span>@{person.username}</span>}
        {person.location && (
          <span>
            <Icon name="place" />
            {person.location}
          </span>
        )}
        {connections && (
          <span>
            {connections.count} {connections.count === 1 ? 'connection' : 'connections'}
          </span>
        )}
      </p>
      {person.bio && <p className="profile-bio">{person.bio}</p>}
      {isSelf ? (
        <p className="muted">
          This is how others see you.{' '}
          <a className="link" href={hrefOf({ page: 'account' })}>
            Edit your profile
          </a>
        </p>
      ) : (
        <div className="profile-actions">
          <RelationActions person={person} />
          <SaveButton person={person} />
          <BlockButton person={person} />
        </div>
      )}
    </article>
  );
}
