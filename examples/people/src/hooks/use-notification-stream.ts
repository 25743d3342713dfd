import { type AppNotification, isKithError } from '@kith/client';
import { useEffect, useEffectEvent, useState } from 'react';
import { useKith } from './use-kith.ts';

/**
 * Listens to a user's notifications as long as the component is shown. Returns whether the stream is open; `undefined` until the
 * first attempt to open it has succeeded or failed.
 *
 * Calls `onGap` if notifications may have been missed. There are two cases. In the first case, the first attempt to open the
 * stream has failed, so the stream begins long after the page has loaded its data. In the second case, the platform says that
 * it can no longer send the missed notifications. A lost connection alone is no gap, because the next connection continues
 * where the last one ended.
 */
export function useNotificationStream(
  userId: string,
  { onNotification, onGap }: { onNotification(notification: AppNotification): void; onGap(): void },
): boolean | undefined {
  const kith = useKith();
  const [isLive, setIsLive] = useState<boolean>();
  const told = useEffectEvent(onNotification);
  const missed = useEffectEvent(onGap);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another user needs another stream.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let attempts = 0;
    let hasBegun = false;
    const onStatus = ({ state }: { state: string }) => {
      if (signal.aborted) return;
      if (state === 'connecting') {
        attempts++;
        return;
      }
      setIsLive(state === 'open');
      if (state === 'open' && !hasBegun) {
        hasBegun = true;
        if (attempts > 1) missed();
      }
    };
    const listen = async () => {
      for await (const event of kith.notifications.stream({ signal, onStatus })) {
        if (event.type === 'notification') told(event.notification);
        if (event.type === 'reset') missed();
      }
    };
    listen().catch((error) => {
      if (signal.aborted) return;
      setIsLive(false);
      // A `KithError` means that the user of this stream is no longer signed in. The client's `onSession` reports this, so
      // there is nothing to do here.
      if (!isKithError(error)) throw error;
    });
    return () => controller.abort();
  }, [kith, userId]);

  return isLive;
}
