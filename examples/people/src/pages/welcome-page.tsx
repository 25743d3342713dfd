import { useState } from 'react';
import { Brand } from '../components/brand.tsx';
import { Button } from '../components/button.tsx';
import { ForgotPasswordForm } from '../components/forgot-password-form.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';
import { SignUpForm } from '../components/sign-up-form.tsx';

/** The page where people sign in or make an account. */
export function WelcomePage() {
  const [isNew, setIsNew] = useState(false);
  const [hasForgotten, setHasForgotten] = useState(false);
  if (hasForgotten) {
    return (
      <main className="welcome">
        <title>Forgotten password · People</title>
        <div className="welcome-card">
          <Brand />
          <h1>Set a new password</h1>
          <ForgotPasswordForm />
          <p className="welcome-other">
            <Button look="quiet" onClick={() => setHasForgotten(false)}>
              Back to sign in
            </Button>
          </p>
        </div>
      </main>
    );
  }
  return (
    <main className="welcome">
      <title>{`${isNew ? 'Create an account' : 'Sign in'} · People`}</title>
      <div className="welcome-card">
        <Brand />
        <h1>{isNew ? 'Create your account' : 'Good to see you'}</h1>
        <p className="muted">Find people, connect, and keep track of them.</p>
        {isNew ? <SignUpForm /> : <SignInForm />}
        {!isNew && (
          <p className="welcome-other">
            <Button look="quiet" onClick={() => setHasForgotten(true)}>
              Forgot your password?
            </Button>
          </p>
        )}
        <p className="welcome-other">
          {isNew ? 'Have an account already?' : 'New here?'}
          <Button look="quiet" onClick={() => setIsNew(!isNew)}>
            {isNew ? 'Sign in instead' : 'Create an account'}
          </Button>
        </p>
      </div>
    </main>
  );
}
