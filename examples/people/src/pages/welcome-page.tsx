import { useState } from 'react';
import { Brand } from '../components/brand.tsx';
import { Button } from '../components/button.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';
import { SignUpForm } from '../components/sign-up-form.tsx';

/** The way in: to sign in, or to make an account. */
export function WelcomePage() {
  const [isNew, setIsNew] = useState(false);
  return (
    <main className="welcome">
      <title>{`${isNew ? 'Create an account' : 'Sign in'} · People`}</title>
      <div className="welcome-card">
        <Brand />
        <h1>{isNew ? 'Create your account' : 'Good to see you'}</h1>
        <p className="muted">Find people, connect, and keep track of them.</p>
        {isNew ? <SignUpForm /> : <SignInForm />}
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
