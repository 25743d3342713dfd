import type { SessionInfo } from '@kith/client';
import { useAction } from '../hooks/use-action.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useSessions } from '../hooks/use-sessions.ts';
import { announce } from '../lib/changes.ts';
import { deviceOf } from '../lib/devices.ts';
import { timeAgo } from '../lib/times.ts';
import { Button } from './button.tsx';
import { WalkView } from './walk-view.tsx';

/** The signed-in user's sessions. The user can end each session except the present one. */
export function SessionList() {
  return (
    <div className="sessions">
      <WalkView walk={useSessions()} topic="sessions" label="Your sessions" empty={null}>
        {(session) => <SessionRow key={session.id} session={session} />}
      </WalkView>
    </div>
  );
}

function SessionRow({ session }: { session: SessionInfo }) {
  const { id: sessionId, userAgent, ip, current, lastUsedAt } = session;
  const kith = useKith();
  const end = useAction(async () => {
    await kith.auth.deleteSession({ sessionId });
    announce('sessions');
  });
  const device = deviceOf(userAgent);
  return (
    <li className="session">
      <div className="person-text">
        <span className="person-name">{device}</span>
        <p className="person-note">
          {ip ? `${ip} · ` : ''}last used {timeAgo(lastUsedAt)}
        </p>
      </div>
      {current ? (
        <span className="tag">This one</span>
      ) : (
        <Button disabled={end.isBusy} aria-label={`Sign out ${device}`} onClick={() => void end.run()}>
          Sign out
        </Button>
      )}
    </li>
  );
}
