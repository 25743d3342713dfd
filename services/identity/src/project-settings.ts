import { ApiError } from '@kith/base';
import {
  type BodyOf,
  type GatewaySettings,
  nameOf,
  operations,
  type Project as ProjectAnswer,
  type updateProject,
} from '@kith/contracts';
import { readPublicKey } from './public-key.ts';
import type { Project, ProjectSettings } from './store/index.ts';

/**
 * The settings that a request gives, field by field. A field that the request leaves out is absent here, too. Throws
 * `project/invalid-body`.
 */
export function settingsOf(body: BodyOf<typeof updateProject>): Partial<ProjectSettings> {
  const { name, publicKey, limits, webOrigins, publicProfiles, publicConnections, storageMib } = body;
  const { externalTokenMaxAge } = body;
  const { signUp, requireVerifiedEmail, mailLinkBase, mailTexts } = body;
  const settings: Partial<ProjectSettings> = {};
  if (name !== undefined) settings.name = name;
  if (publicKey !== undefined) settings.publicKey = publicKey === null ? null : readPublicKey(publicKey);
  if (limits !== undefined) settings.limits = ofOperations(limits);
  if (webOrigins !== undefined) settings.webOrigins = webOrigins;
  if (publicProfiles !== undefined) settings.publicProfiles = publicProfiles;
  if (publicConnections !== undefined) settings.publicConnections = publicConnections;
  if (storageMib !== undefined) settings.storageMib = storageMib;
  if (externalTokenMaxAge !== undefined) settings.externalTokenMaxAge = externalTokenMaxAge;
  if (signUp !== undefined) settings.signUp = signUp;
  if (requireVerifiedEmail !== undefined) settings.requireVerifiedEmail = requireVerifiedEmail;
  if (mailLinkBase !== undefined) settings.mailLinkBase = mailLinkBase;
  if (mailTexts !== undefined) settings.mailTexts = mailTexts;
  return settings;
}

function ofOperations(limits: Project['limits']): Project['limits'] {
  const unknown = Object.keys(limits).find((name) => !operations.some((one) => one.name === name));
  if (unknown === undefined) return limits;
  const message = `limits must name operations of this API; no operation is called ${nameOf([unknown])}.`;
  throw new ApiError('project/invalid-body', { message, field: 'limits' });
}

/** A project in the form in which answers contain it. */
export function projectAnswer(project: Project): ProjectAnswer {
  return {
    id: project.id,
    name: project.name,
    publicKey: project.publicKey,
    limits: project.limits,
    webOrigins: [...project.webOrigins],
    publicProfiles: project.publicProfiles,
    publicConnections: project.publicConnections,
    storageMib: project.storageMib ?? null,
    externalTokenMaxAge: project.externalTokenMaxAge,
    signUp: project.signUp,
    requireVerifiedEmail: project.requireVerifiedEmail,
    mailLinkBase: project.mailLinkBase,
    mailTexts: project.mailTexts,
    createdAt: project.createdAt.toISOString(),
    updatedAt: project.updatedAt.toISOString(),
    deletion: null,
  };
}

/**
 * The settings of a project that gateways enforce. A connection list shows profiles, so it is public only if profiles are
 * public.
 */
export function gatewaySettingsOf(project: Project): GatewaySettings {
  return {
    projectId: project.id,
    limits: project.limits,
    webOrigins: [...project.webOrigins],
    publicProfiles: project.publicProfiles,
    publicConnections: project.publicConnections && project.publicProfiles !== 'none',
    storageMib: project.storageMib ?? undefined,
  };
}

/** The settings that gateways get for a deleted project. */
export function deletedSettingsOf(projectId: string): GatewaySettings {
  return {
    projectId,
    limits: {},
    webOrigins: [],
    publicProfiles: 'none',
    publicConnections: false,
    isDeleted: true,
  };
}
