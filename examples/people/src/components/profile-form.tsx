import { useForm } from '../hooks/use-form.ts';
import { useProfileUpdate } from '../hooks/use-profile.ts';
import { useUser } from '../hooks/use-session.ts';
import { useToasts } from '../hooks/use-toasts.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FormProblem } from './form-problem.tsx';

/** A form for the signed-in user's names and self-description. */
export function ProfileForm() {
  const user = useUser();
  const update = useProfileUpdate();
  const { show } = useToasts();
  const form = useForm({ name: user.name ?? '', bio: user.bio ?? '' }, async ({ name, bio }) => {
    await update({ name, bio: bio.trim() || null });
    show({ text: 'Your profile is saved.' });
  });
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormProblem text={form.problem} />
      <Field label="Name" autoComplete="name" maxLength={100} required {...form.field('name')} />
      <Field label="About you" rows={3} maxLength={300} {...form.field('bio')} />
      <Button look="primary" type="submit" disabled={form.isBusy}>
        Save profile
      </Button>
    </form>
  );
}
