import type { StandingBlock } from '@kith/client';
import { useBlocks } from '../hooks/use-connections.ts';
import { useRelationActions } from '../hooks/use-relation.ts';
import { nameOf } from '../lib/people.ts';
import { timeAgo } from '../lib/times.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import { WalkView } from './walk-view.tsx';

/** The people whom the signed-in user blocks. */
export function BlockedPeople() {
  return (
    <WalkView
      walk={useBlocks()}
      topic="connections"
      label="People you block"
      empty={<Empty icon="people" title="You block nobody" />}
    >
      {(block) => <BlockedPerson key={block.id} block={block} />}
    </WalkView>
  );
}

function BlockedPerson({ block: { user, createdAt } }: { block: StandingBlock }) {
  const { unblock, isBusy } = useRelationActions(user);
  const name = nameOf(user);
  return (
    <li className="card person">
      <Avatar person={user} />
      <div className="person-text">
        <span className="person-name">{name}</span>
        <p className="person-note">Blocked {timeAgo(createdAt)}</p>
      </div>
      <div className="person-actions">
        <Button disabled={isBusy} aria-label={`Unblock ${name}`} onClick={() => void unblock()}>
          Unblock
        </Button>
      </div>
    </li>
  );
}
