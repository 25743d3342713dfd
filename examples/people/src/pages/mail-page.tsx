import { useState } from 'react';
import { Brand } from '../components/brand.tsx';
import { ConfirmAddress } from '../components/confirm-address.tsx';
import { NewPasswordForm } from '../components/new-password-form.tsx';
import { hrefOf } from '../lib/routes.ts';

const words = {
  passwordReset: {
    title: 'Set a new password',
    text: 'You are then signed out everywhere. Sign in again with the new password.',
    done: 'Your password is set.',
  },
  emailChanged: {
    title: 'Undo the change of your e-mail address',
    text: 'Your account gets its former address back, and you are signed out everywhere.',
    done: 'Your account has its former address back. Now set a new password.',
  },
  other: {
    title: 'Confirm your e-mail address',
    text: 'Confirm that this address is yours.',
    done: 'Your e-mail address is confirmed.',
  },
};

/** The page for a link in a mail. It works whether or not somebody is signed in. */
export function MailPage({ kind, token }: { kind: string; token: string }) {
  const [isDone, setIsDone] = useState(false);
  const { title, text, done } = words[kind as keyof typeof words] ?? words.other;
  const onDone = () => setIsDone(true);
  return (
    <main className="welcome">
      <title>{`${title} · People`}</title>
      <div className="welcome-card">
        <Brand />
        <h1>{title}</h1>
        <p className="muted" role="status">
          {isDone ? done : text}
        </p>
        {!isDone &&
          (kind === 'passwordReset' ? (
            <NewPasswordForm token={token} onDone={onDone} />
          ) : (
            <ConfirmAddress token={token} isUndo={kind === 'emailChanged'} onDone={onDone} />
          ))}
        {isDone && (
          <p className="welcome-other">
            <a href={hrefOf({ page: 'people' })}>Go on</a>
          </p>
        )}
      </div>
    </main>
  );
}
