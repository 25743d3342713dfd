import type { PublicUser } from '@kith/client';
import type { ReactNode } from 'react';
import type { Relation } from '../hooks/use-relation.ts';
import { nameOf } from '../lib/people.ts';
import { hrefOf } from '../lib/routes.ts';
import { Avatar } from './avatar.tsx';
import { RelationActions } from './relation-actions.tsx';
import { SaveButton } from './save-button.tsx';

/** A person in a list, with buttons for the possible actions. */
export function PersonCard(props: {
  person: PublicUser;
  /**
   * The person's relation to the signed-in user, if the data of the list contains this relation. If not, the card loads the
   * relation.
   */
  relation?: Relation;
  /** A text about the person that is shown instead of the bio. */
  note?: ReactNode;
}) {
  const { person, relation, note } = props;
  return (
    <li className="card person">
      <Avatar person={person} />
      <div className="person-text">
        <a className="person-name" href={hrefOf({ page: 'person', id: person.id })}>
          {nameOf(person)}
        </a>
        {person.username && <span className="muted"> @{person.username}</span>}
        {(note ?? person.bio) && <p className="person-note">{note ?? person.bio}</p>}
      </div>
      <div className="person-actions">
        <RelationActions person={person} known={relation} />
        <SaveButton person={person} />
      </div>
    </li>
  );
}
