import { BlockedPeople } from '../components/blocked-people.tsx';
import { ConnectedPeople } from '../components/connected-people.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PendingRequests } from '../components/pending-requests.tsx';
import { Tabs } from '../components/tabs.tsx';

/** The signed-in user's connections, requests and blocked people. */
export function ConnectionsPage({ part }: { part: 'connections' | 'requests' | 'blocked' }) {
  return (
    <>
      <PageHeading title="Connections" />
      <Tabs
        label="Connections"
        tabs={[
          { label: 'Connected', to: { page: 'connections' } },
          { label: 'Requests', to: { page: 'requests' } },
          { label: 'Blocked', to: { page: 'blocked' } },
        ]}
      />
      {part === 'connections' && <ConnectedPeople />}
      {part === 'requests' && <PendingRequests />}
      {part === 'blocked' && <BlockedPeople />}
    </>
  );
}
