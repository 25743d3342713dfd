import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import { type BodyOf, enrolFactor, mostFactors } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { accountAndProjectOf } from '../factors/factor-user.ts';
import { creationOptions, makeChallenge } from '../factors/passkeys.ts';
import { requireOwner } from '../factors/step-up.ts';
import { makeTotp, sealTotp } from '../factors/totp.ts';
import { checkRpId } from '../factors/web-origins.ts';
import type { Enrolment, FactorBook, Project, User } from '../store/index.ts';

const enrolmentMs = 10 * 60_000;

/** Begins to enrol a second factor (spec#accounts-factors-enrol). */
export const enrolFactorHandler = handler(enrolFactor, async (request, app: AppContext) => {
  const { projectId, caller, body, deadline } = request;
  const { user, project } = await accountAndProjectOf(app, projectId, caller.userId);
  if (user.passwordHash === null) throw new ApiError('auth/not-password-user');
  const at = app.now();
  const expiresAt = at.getTime() + enrolmentMs;
  const answer = await app.store.factors.change(
    { projectId, userId: user.id, at, deadline },
    async (book) => {
      await requireOwner(app, book, { projectId, caller, at });
      if (book.factors.length >= mostFactors) throw new ApiError('auth/too-many-factors');
      const { enrolment, shown } = begun(app, { body, user, project, book, expiresAt });
      return { book: { ...book, enrolments: [...book.enrolments, enrolment] }, result: shown };
    },
  );
  request.setHeader('Cache-Control', 'no-store');
  return answer;
});

interface Beginning {
  body: BodyOf<typeof enrolFactor>;
  user: User;
  project: Project;
  book: FactorBook;
  expiresAt: number;
}

function begun(app: AppContext, { body, user, project, book, expiresAt }: Beginning) {
  const common = { id: randomUUID(), name: body.name };
  const told = { ...common, expiresAt: new Date(expiresAt).toISOString() };
  const email = user.email ?? user.id;
  if (body.type === 'totp') {
    const { secret, url } = makeTotp({ issuer: project.name, label: email });
    const enrolment: Enrolment = { ...common, expiresAt, sealed: sealTotp(app, secret, user.id) };
    return { enrolment, shown: { ...told, type: 'totp' as const, secret, url } };
  }
  const rpId = checkRpId(body.rpId, project.webOrigins);
  const { challenge, hash: challengeHash } = makeChallenge();
  const rp = { id: rpId, name: project.name };
  const { factors } = book;
  const options = creationOptions({ challenge, rp, user: { id: user.id, email, name: user.name }, factors });
  const enrolment: Enrolment = { ...common, expiresAt, passkey: { challengeHash, rpId } };
  return { enrolment, shown: { ...told, type: 'passkey' as const, options } };
}
