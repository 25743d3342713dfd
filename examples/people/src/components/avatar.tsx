import { useState } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { hueOf, initialsOf, nameOf, type Person } from '../lib/people.ts';
import { addressesOf } from '../lib/pictures.ts';

/** A person's picture, or their initials if there is none or it cannot be loaded. */
export function Avatar({ person, size = 'm' }: { person: Person; size?: 's' | 'm' | 'l' }) {
  const kith = useKith();
  const [broken, setBroken] = useState<readonly string[]>([]);
  const { avatar } = person;
  const address = avatar && addressesOf(kith.storage.urlOf(avatar)).find((one) => !broken.includes(one));
  if (address) {
    const onError = () => setBroken([...broken, address]);
    // The person's name is beside the picture, so the picture needs no alternative text.
    return <img className={`avatar ${size}`} src={address} alt="" onError={onError} />;
  }
  return (
    <span className={`avatar ${size}`} style={{ '--hue': hueOf(person.id) }} aria-hidden="true">
      {initialsOf(nameOf(person))}
    </span>
  );
}
