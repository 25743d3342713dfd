import { useState } from 'react';
import { hueOf, initialsOf, nameOf, type Person } from '../lib/people.ts';

/** A person's picture; their initials where there is none, or it cannot be had. */
export function Avatar({ person, size = 'm' }: { person: Person; size?: 's' | 'm' | 'l' }) {
  const [broken, setBroken] = useState<string>();
  const { avatar } = person;
  // The name stands beside it.
  if (avatar && avatar !== broken) {
    return <img className={`avatar ${size}`} src={avatar} alt="" onError={() => setBroken(avatar)} />;
  }
  return (
    <span className={`avatar ${size}`} style={{ '--hue': hueOf(person.id) }} aria-hidden="true">
      {initialsOf(nameOf(person))}
    </span>
  );
}
