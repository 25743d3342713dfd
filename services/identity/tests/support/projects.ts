import { randomUUID } from 'node:crypto';
import type { Project } from '../../src/store/index.ts';

/** A project row with every field filled. */
export function makeProjectRow(fields: Partial<Project> = {}): Project {
  const at = new Date('2026-01-02T03:04:05.678Z');
  return {
    id: randomUUID(),
    name: 'Проект',
    publicKey: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
    limits: { 'identity.sign-in': { max: 5, windowSeconds: 60 }, 'identity.sign-up': null },
    webOrigins: ['https://app.example.org'],
    publicProfiles: 'none',
    publicConnections: true,
    storageMib: null,
    externalTokenMaxAge: 7200,
    signUp: 'closed',
    requireVerifiedEmail: true,
    mailLinkBase: 'https://app.example.org/mail',
    mailTexts: { passwordReset: { subject: 'Пароль', text: '{link}' } },
    createdAt: at,
    updatedAt: at,
    ...fields,
  };
}
