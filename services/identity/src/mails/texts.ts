import type { MailKind } from '@kith/contracts';
import type { Project } from '../store/records.ts';

/** The values of a text, by name. Each value replaces its name in braces. */
export type Filling = Readonly<Record<string, string>>;

interface Text {
  subject: string;
  text: string;
}

/** The usual texts; a project may have its own (spec#accounts-mail-texts). */
const usual: Readonly<Record<MailKind, Text>> = {
  passwordReset: {
    subject: 'Set a new password for {project}',
    text: `Hello,

somebody asked to set a new password for {address} at {project}. To set one, open this link within the next hour:

{link}

If it was not you, ignore this mail: nothing has changed.
`,
  },
  verificationLink: {
    subject: 'Confirm your e-mail address for {project}',
    text: `Hello,

to confirm that {address} is your address at {project}, open this link within the next 24 hours:

{link}

If you have no account there, ignore this mail.
`,
  },
  verificationCode: {
    subject: 'Confirm your e-mail address for {project}',
    text: `Hello,

your code for {project} is {code}. It can be used for 5 minutes. Give it to nobody.

If you have no account there, ignore this mail.
`,
  },
  emailChange: {
    subject: 'Confirm your new e-mail address for {project}',
    text: `Hello,

to make {address} the address of your account at {project}, open this link within the next 24 hours:

{link}

If you did not ask for this, ignore this mail: nothing has changed.
`,
  },
  emailChanged: {
    subject: 'Your e-mail address for {project} has changed',
    text: `Hello,

the e-mail address of your account at {project} is no longer {address}.

If it was not you, open this link within 7 days to undo the change. Then set a new password.

{link}
`,
  },
  factorAdded: {
    subject: 'A second factor was added to your account at {project}',
    text: `Hello,

an authenticator app or a passkey was added to your account at {project} ({address}). Sign-in asks for it from now on.

If it was not you, somebody knows your password: set a new one, and remove what you did not add.
`,
  },
  factorRemoved: {
    subject: 'A second factor was removed from your account at {project}',
    text: `Hello,

an authenticator app or a passkey was removed from your account at {project} ({address}). Sign-in does not ask for it any more.

If you neither did this nor asked for it, set a new password and check your account.
`,
  },
  recoveryCodesRenewed: {
    subject: 'New recovery codes for your account at {project}',
    text: `Hello,

new recovery codes were made for your account at {project} ({address}). The earlier codes no longer work.

If it was not you, set a new password and make new recovery codes.
`,
  },
};

/** Subject and text of a mail. If a value itself contains a name in braces, this name is not replaced. */
export function textsOf(project: Pick<Project, 'mailTexts'>, kind: MailKind, filling: Filling): Text {
  const { subject, text } = project.mailTexts[kind] ?? usual[kind];
  const fill = (one: string) => one.replaceAll(/\{(\w+)\}/g, (whole, name: string) => filling[name] ?? whole);
  // A project's name may contain control characters, for example line breaks, but a subject must not contain them.
  return { subject: fill(subject).replaceAll(/\p{Cc}+/gu, ' '), text: fill(text) };
}
