import { useEffect, useState } from 'react';
import { useDebounced } from './use-debounced.ts';
import { useKith } from './use-kith.ts';

/** Returns whether a username is free; `undefined` if there is no answer yet, or if the name cannot be checked. */
export function useUsernameCheck(username: string): boolean | undefined {
  const kith = useKith();
  const settled = useDebounced(username, 400);
  const [answer, setAnswer] = useState<{ username: string; available: boolean }>();
  useEffect(() => {
    if (!/^[A-Za-z0-9._]{3,30}$/.test(settled)) return;
    const controller = new AbortController();
    kith.users.checkUsername({ username: settled }, { signal: controller.signal }).then(
      ({ available }) => setAnswer({ username: settled, available }),
      // A failed check does not matter, because signing up checks the username again.
      () => {},
    );
    return () => controller.abort();
  }, [kith, settled]);
  return answer?.username === username ? answer.available : undefined;
}
