import { useState } from 'react';
import { useConnections } from '../hooks/use-connections.ts';
import { useDebounced } from '../hooks/use-debounced.ts';
import { timeAgo } from '../lib/times.ts';
import { Empty } from './empty.tsx';
import { PersonCard } from './person-card.tsx';
import { SearchField } from './search-field.tsx';
import { WalkView } from './walk-view.tsx';

/** The signed-in user's connections. Scrolling loads more of them. */
export function ConnectedPeople() {
  const [text, setText] = useState('');
  const query = useDebounced(text.trim());
  const connections = useConnections(query);
  return (
    <>
      <SearchField label="Search your connections" value={text} onChange={setText} />
      {connections.total !== undefined && connections.total > 0 && (
        <p className="muted count">
          {connections.total} {connections.total === 1 ? 'connection' : 'connections'}
        </p>
      )}
      <WalkView
        walk={connections}
        topic="connections"
        label="Your connections"
        empty={
          query ? (
            <Empty icon="search" title="No connection by that name" />
          ) : (
            <Empty icon="connections" title="No connections yet">
              Find people and ask them to connect.
            </Empty>
          )
        }
      >
        {({ id, connectedUser, connectedAt, requestedAt }) => (
          <PersonCard
            key={id}
            person={connectedUser}
            relation={{ status: 'connected', connectionId: id, connectedAt, requestedAt }}
            note={`Connected ${timeAgo(connectedAt)}`}
          />
        )}
      </WalkView>
    </>
  );
}
