import { type AppNotification, isKithError } from '@kith/client';
import { useEffect, useEffectEvent, useState } from 'react';
import { useKith } from './use-kith.ts';

/**
 * Listens to a user's notifications as long as the component is shown. Calls `onGap` whenever notifications may have been
 * missed: at the beginning, and after a lost connection. Returns whether the stream is open.
 */
export function useNotificationStream(
  userId: string,
  { onNotification, onGap }: { onNotification(notification: AppNotification): void; onGap(): void },
): boolean {
  const kith = useKith();
  const [isLive, setIsLive] = useState(true);
  const told = useEffectEvent(onNotification);
  const missed = useEffectEvent(onGap);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another user needs another stream.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let wasOpen = false;
    const onStatus = ({ state }: { state: string }) => {
      if (signal.aborted) return;
      if (state === 'open' && !wasOpen) {
        wasOpen = true;
        missed();
      }
      if (state !== 'connecting') setIsLive(state === 'open');
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
