import { useState } from 'react';
import { type Relation, useRelation, useRelationActions } from '../hooks/use-relation.ts';
import { nameOf, type Person } from '../lib/people.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { ConnectDialog } from './connect-dialog.tsx';
import { Icon } from './icon.tsx';
import { Problem } from './problem.tsx';

/** Buttons that change the relation to a person. The present relation decides which buttons are shown. */
export function RelationActions({ person, known }: { person: Person; known?: Relation | undefined }) {
  const { data: relation, error } = useRelation(person.id, known);
  const { isBusy, ...actions } = useRelationActions(person);
  const [asking, setAsking] = useState<'connect' | 'disconnect'>();
  const name = nameOf(person);
  const stopAsking = () => setAsking(undefined);

  const problem = error !== undefined && <Problem error={error} topic="connections" isCompact />;
  if (!relation) return problem || <span className="action-place" aria-hidden="true" />;
  const isReceived = 'type' in relation && relation.type === 'received';
  return (
    <>
      {problem}
      {(relation.status === 'none' || (relation.status === 'declined' && isReceived)) && (
        <Button
          look="primary"
          disabled={isBusy}
          aria-label={`Connect with ${name}`}
          onClick={() => setAsking('connect')}
        >
          Connect
        </Button>
      )}
      {relation.status === 'pending' && isReceived && (
        <>
          <Button
            look="primary"
            disabled={isBusy}
            aria-label={`Accept ${name}`}
            onClick={() => void actions.accept(relation.connectionId)}
          >
            Accept
          </Button>
          <Button
            disabled={isBusy}
            aria-label={`Decline ${name}`}
            onClick={() => void actions.decline(relation.connectionId)}
          >
            Decline
          </Button>
        </>
      )}
      {relation.status === 'pending' && !isReceived && (
        <Button
          disabled={isBusy}
          aria-label={`Withdraw the request to ${name}`}
          onClick={() => void actions.end(relation.connectionId)}
        >
          Withdraw
        </Button>
      )}
      {relation.status === 'connected' && (
        <>
          {!known && (
            <span className="tag">
              <Icon name="check" />
              Connected
            </span>
          )}
          <Button
            look="quiet"
            disabled={isBusy}
            aria-label={`Disconnect from ${name}`}
            onClick={() => setAsking('disconnect')}
          >
            Disconnect
          </Button>
        </>
      )}
      {relation.status === 'declined' && !isReceived && <span className="tag">Declined</span>}
      {asking === 'connect' && (
        <ConnectDialog person={person} onSend={actions.connect} onClose={stopAsking} />
      )}
      {asking === 'disconnect' && relation.status === 'connected' && (
        <ConfirmDialog
          title={`Disconnect from ${name}?`}
          text="You can ask each other again later."
          action="Disconnect"
          onConfirm={() => actions.end(relation.connectionId)}
          onClose={stopAsking}
        />
      )}
    </>
  );
}
