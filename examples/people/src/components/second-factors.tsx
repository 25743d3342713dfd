import { createPasskey, type Factor, hasPasskeys } from '@kith/client';
import { useState } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useFactors } from '../hooks/use-factors.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useProof } from '../hooks/use-proof.ts';
import { announce } from '../lib/changes.ts';
import { deviceOf } from '../lib/devices.ts';
import { timeAgo } from '../lib/times.ts';
import { AddAuthenticator, type BegunTotp } from './add-authenticator.tsx';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The signed-in user's second factors, and buttons to add more. */
export function SecondFactors() {
  const kith = useKith();
  const proved = useProof();
  const { data, error } = useFactors();
  const [begun, setBegun] = useState<BegunTotp>();
  const [codes, setCodes] = useState<readonly string[]>();
  const onConfirmed = ({ recoveryCodes }: { recoveryCodes: readonly string[] | null }) => {
    announce('factors');
    if (recoveryCodes) setCodes(recoveryCodes);
  };
  const addApp = useAction(async () => {
    setBegun(await proved(() => kith.auth.enrolFactor({ type: 'totp', name: 'Authenticator app' })));
  });
  const addPasskey = useAction(async () => {
    const name = `Passkey of ${deviceOf(navigator.userAgent)}`;
    const rpId = location.hostname;
    const answer = await proved(() => kith.auth.enrolFactor({ type: 'passkey', name, rpId }));
    const passkey = await createPasskey(answer.options);
    onConfirmed(await proved(() => kith.auth.confirmFactor({ factorId: answer.id, passkey })));
  });
  const renew = useAction(async () => {
    const { recoveryCodes } = await proved(() => kith.auth.renewRecoveryCodes());
    onConfirmed({ recoveryCodes });
  });
  return (
    <>
      {error !== undefined && <Problem error={error} topic="factors" />}
      <ul className="factors" aria-label="Second factors">
        {data?.factors.map((factor) => (
          <FactorRow key={factor.id} factor={factor} />
        ))}
      </ul>
      <div className="data-row">
        <p>You need one of these when you sign in, after your password.</p>
        <Button disabled={addApp.isBusy} onClick={() => void addApp.run()}>
          Add an authenticator app
        </Button>
        {hasPasskeys() && (
          <Button disabled={addPasskey.isBusy} onClick={() => void addPasskey.run()}>
            Add a passkey
          </Button>
        )}
      </div>
      {data !== undefined && data.factors.length > 0 && (
        <div className="data-row">
          <p>{data.recoveryCodesLeft} recovery codes are left.</p>
          <Button disabled={renew.isBusy} onClick={() => void renew.run()}>
            Make new codes
          </Button>
        </div>
      )}
      {begun && (
        <AddAuthenticator begun={begun} onConfirmed={onConfirmed} onClose={() => setBegun(undefined)} />
      )}
      {codes && <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />}
    </>
  );
}

function FactorRow({ factor }: { factor: Factor }) {
  const { id: factorId, type, lastUsedAt } = factor;
  const kith = useKith();
  const proved = useProof();
  const remove = useAction(async () => {
    await proved(() => kith.auth.removeFactor({ factorId }));
    announce('factors');
  });
  const name = factor.name ?? type;
  return (
    <li className="session">
      <div className="person-text">
        <span className="person-name">{name}</span>
        <p className="person-note">{lastUsedAt ? `last used ${timeAgo(lastUsedAt)}` : 'not used yet'}</p>
      </div>
      <Button disabled={remove.isBusy} aria-label={`Remove ${name}`} onClick={() => void remove.run()}>
        Remove
      </Button>
    </li>
  );
}
