import { EmailForm } from '../components/email-form.tsx';
import { EmailVerification } from '../components/email-verification.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PasswordForm } from '../components/password-form.tsx';
import { PictureEditor } from '../components/picture-editor.tsx';
import { PrivacySettings } from '../components/privacy-settings.tsx';
import { ProfileForm } from '../components/profile-form.tsx';
import { SecondFactors } from '../components/second-factors.tsx';
import { SessionList } from '../components/session-list.tsx';
import { YourData } from '../components/your-data.tsx';
import { useUser } from '../hooks/use-session.ts';

/** The signed-in user's profile and settings. */
export function AccountPage() {
  const { email } = useUser();
  return (
    <div className="account-page">
      <PageHeading title="Your account" />
      <section className="card panel" aria-labelledby="profile">
        <h2 id="profile">Profile</h2>
        <PictureEditor />
        <ProfileForm />
      </section>
      {email !== null && (
        <section className="card panel" aria-labelledby="email">
          <h2 id="email">E-mail address</h2>
          <EmailVerification key={email} />
          <EmailForm />
        </section>
      )}
      {email !== null && (
        <section className="card panel" aria-labelledby="password">
          <h2 id="password">Password</h2>
          <PasswordForm />
        </section>
      )}
      <section className="card panel" aria-labelledby="privacy">
        <h2 id="privacy">Privacy</h2>
        <PrivacySettings />
      </section>
      {email !== null && (
        <section className="card panel" aria-labelledby="factors">
          <h2 id="factors">Two steps to sign in</h2>
          <SecondFactors />
        </section>
      )}
      <section className="card panel" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        <SessionList />
      </section>
      <section className="card panel" aria-labelledby="data">
        <h2 id="data">Your data</h2>
        <YourData />
      </section>
    </div>
  );
}
