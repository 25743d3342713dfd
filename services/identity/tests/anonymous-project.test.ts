import { MadeUp } from '@kith/store/backup';
import { expect, test } from 'vitest';
import { identityBackup } from '../src/backup.ts';

test('in an anonymous copy, a project that is being deleted has only the fields that this version knows', () => {
  const project = {
    ...{ name: 'Secret', publicKey: null, webOrigins: ['https://secret.example.org'] },
    ...{ publicProfiles: true, publicConnections: true, createdAt: 1, updatedAt: 1 },
    limits: { 'identity.sign-in': { max: 9, windowSeconds: 60, newer: 'secret' }, 'identity.sign-up': null },
    newer: 'secret',
  };
  const stored = { id: '7d1b2cb0-3a0f-4d0c-9b0e-8f4f0e9f7c11', doc: { project, since: 1 } };
  const copied = identityBackup.anonymous.deletingProjects?.(stored, new MadeUp(''));
  expect(copied?.doc).toMatchObject({ project: { publicProfiles: true, createdAt: 1 }, since: 1 });
  const limits = { 'identity.sign-in': { max: 9, windowSeconds: 60 }, 'identity.sign-up': null };
  expect(copied?.doc.project.limits).toEqual(limits);
  expect(JSON.stringify(copied).toLowerCase()).not.toContain('secret');
});
