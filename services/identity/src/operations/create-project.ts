import { randomUUID } from 'node:crypto';
import { createProject } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { projectAnswer, settingsOf } from '../project-settings.ts';
import { type Project, usualExternalAge } from '../store/index.ts';

/** Registers a project under a new id (spec#projects-create). */
export const createProjectHandler = handler(createProject, async (request, app: AppContext) => {
  const now = new Date();
  const project: Project = {
    publicKey: null,
    limits: {},
    webOrigins: [],
    publicProfiles: 'card',
    publicConnections: true,
    storageMib: null,
    externalTokenMaxAge: usualExternalAge,
    signUp: 'open',
    requireVerifiedEmail: false,
    mailLinkBase: null,
    mailTexts: {},
    ...settingsOf(request.body),
    name: request.body.name,
    id: randomUUID(),
    createdAt: now,
    updatedAt: now,
  };
  request.audit.tell({ target: `project:${project.id}` });
  await app.store.projects.add(project);
  app.notices.tellSettings(project);
  return projectAnswer(project);
});
