import type { Command } from '../command.ts';
import { adoptCommand } from './adopt.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { completionCommand } from './completion.ts';
import { listDeadLettersCommand } from './dead-letters-list.ts';
import { replayDeadLettersCommand } from './dead-letters-replay.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { eraseAgainCommand } from './erase-again.ts';
import { deleteFileCommand } from './files-delete.ts';
import { importCommand } from './import.ts';
import { revokeKeyCommand } from './keys-revoke.ts';
import { rotateKeysCommand } from './keys-rotate.ts';
import { moveCommand } from './move.ts';
import { createOperatorCommand } from './operators-create.ts';
import { deleteOperatorCommand } from './operators-delete.ts';
import { listOperatorsCommand } from './operators-list.ts';
import { createProjectCommand } from './projects-create.ts';
import { deleteProjectCommand } from './projects-delete.ts';
import { listProjectsCommand } from './projects-list.ts';
import { showProjectCommand } from './projects-show.ts';
import { updateProjectCommand } from './projects-update.ts';
import { rebuildCommand } from './rebuild.ts';
import { restoreCommand } from './restore.ts';
import { restoredCommand } from './restored.ts';
import { rotateSecretsCommand } from './secrets-rotate.ts';
import { createServerKeyCommand } from './server-keys-create.ts';
import { deleteServerKeyCommand } from './server-keys-delete.ts';
import { listServerKeysCommand } from './server-keys-list.ts';
import { startCommand } from './start.ts';
import { statusCommand } from './status.ts';
import { stopCommand } from './stop.ts';
import { endUserSessionsCommand } from './users-end-sessions.ts';
import { listUsersCommand } from './users-list.ts';
import { removeUserFactorsCommand } from './users-remove-factors.ts';
import { restoreUserCommand } from './users-restore.ts';
import { listUserSessionsCommand } from './users-sessions.ts';
import { setPasswordCommand } from './users-set-password.ts';
import { suspendUserCommand } from './users-suspend.ts';
import { updateUserCommand } from './users-update.ts';

/** Every command, in the order of the list that `kith` prints. Help, completion and tests use this list. */
export const commands: readonly Command[] = [
  startCommand,
  stopCommand,
  statusCommand,
  doctorCommand,
  demoCommand,
  createProjectCommand,
  listProjectsCommand,
  showProjectCommand,
  updateProjectCommand,
  deleteProjectCommand,
  listUsersCommand,
  updateUserCommand,
  suspendUserCommand,
  restoreUserCommand,
  setPasswordCommand,
  listUserSessionsCommand,
  endUserSessionsCommand,
  createOperatorCommand,
  listOperatorsCommand,
  deleteOperatorCommand,
  removeUserFactorsCommand,
  createServerKeyCommand,
  listServerKeysCommand,
  deleteServerKeyCommand,
  deleteFileCommand,
  auditCommand,
  rotateKeysCommand,
  revokeKeyCommand,
  rotateSecretsCommand,
  importCommand,
  backupCommand,
  restoreCommand,
  adoptCommand,
  moveCommand,
  rebuildCommand,
  eraseAgainCommand,
  restoredCommand,
  listDeadLettersCommand,
  replayDeadLettersCommand,
  completionCommand,
];
