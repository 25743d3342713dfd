import { useRequests } from '../hooks/use-connections.ts';
import { timeAgo } from '../lib/times.ts';
import { Empty } from './empty.tsx';
import { PersonCard } from './person-card.tsx';
import { WalkView } from './walk-view.tsx';

/** The pending requests. Some wait for the signed-in user's answer, and some for other people's answers. */
export function PendingRequests() {
  return (
    <>
      <Requests side="received" title="For you to answer" empty="Nobody waits for your answer" />
      <Requests side="sent" title="Sent by you" empty="You wait for nobody’s answer" />
    </>
  );
}

function Requests({ side, title, empty }: { side: 'received' | 'sent'; title: string; empty: string }) {
  return (
    <section aria-label={title}>
      <h2 className="section-title">{title}</h2>
      <WalkView
        walk={useRequests(side)}
        topic="connections"
        label={title}
        empty={<Empty icon="inbox" title={empty} />}
      >
        {({ id, type, user, message, createdAt }) => (
          <PersonCard
            key={id}
            person={user}
            relation={{ status: 'pending', type, connectionId: id, createdAt }}
            note={message ? `“${message}”` : `Asked ${timeAgo(createdAt)}`}
          />
        )}
      </WalkView>
    </section>
  );
}
