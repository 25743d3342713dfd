import { useState } from 'react';
import { Empty } from '../components/empty.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PersonCard } from '../components/person-card.tsx';
import { Problem } from '../components/problem.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { useDebounced } from '../hooks/use-debounced.ts';
import { usePeopleSearch } from '../hooks/use-people.ts';

/** Finds people by a part of their name. */
export function PeoplePage() {
  const [text, setText] = useState('');
  const query = useDebounced(text.trim());
  const { data: people, error } = usePeopleSearch(query);
  const isAsking = text.trim() !== '' && !people && error === undefined;
  const found = query && people ? `${people.length || 'Nobody'} found` : '';
  return (
    <>
      <PageHeading title="Find people" />
      <SearchField label="Search by name or username" value={text} onChange={setText} />
      <p className="for-readers" role="status">
        {found}
      </p>
      {isAsking && <Skeleton />}
      {error !== undefined && <Problem error={error} topic="connections" />}
      {people && people.length > 0 && (
        <ul className="cards" aria-label="People found">
          {people.map((person) => (
            <PersonCard key={person.id} person={person} />
          ))}
        </ul>
      )}
      {people?.length === 0 && (
        <Empty icon="search" title="Nobody by that name">
          Try a part of the name, or the username.
        </Empty>
      )}
      {!query && !isAsking && (
        <Empty icon="people" title="Who are you looking for?">
          Type a name. Those who match best come first.
        </Empty>
      )}
    </>
  );
}
