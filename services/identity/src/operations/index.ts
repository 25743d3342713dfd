// Every operation of the service, by its short name.
export { challengePasskeyHandler as 'challenge-passkey' } from './challenge-passkey.ts';
export { challengeSignInHandler as 'challenge-sign-in' } from './challenge-sign-in.ts';
export { changePasswordHandler as 'change-password' } from './change-password.ts';
export { changeUserHandler as 'change-user' } from './change-user.ts';
export { checkUsernameHandler as 'check-username' } from './check-username.ts';
export { confirmFactorHandler as 'confirm-factor' } from './confirm-factor.ts';
export { createOperatorHandler as 'create-operator' } from './create-operator.ts';
export { createProjectHandler as 'create-project' } from './create-project.ts';
export { deleteOperatorHandler as 'delete-operator' } from './delete-operator.ts';
export { deleteProjectHandler as 'delete-project' } from './delete-project.ts';
export { deleteSessionHandler as 'delete-session' } from './delete-session.ts';
export { deleteUserHandler as 'delete-user' } from './delete-user.ts';
export { endUserSessionsHandler as 'end-user-sessions' } from './end-user-sessions.ts';
export { enrolFactorHandler as 'enrol-factor' } from './enrol-factor.ts';
export { exportUserHandler as 'export-user' } from './export-user.ts';
export { getProjectHandler as 'get-project' } from './get-project.ts';
export { getProjectLeanHandler as 'get-project-lean' } from './get-project-lean.ts';
export { getUserHandler as 'get-user' } from './get-user.ts';
export { getUserByForeignIdHandler as 'get-user-by-foreign-id' } from './get-user-by-foreign-id.ts';
export { getUserByUsernameHandler as 'get-user-by-username' } from './get-user-by-username.ts';
export { importUsersHandler as 'import-users' } from './import-users.ts';
export { getJwksHandler as jwks } from './jwks.ts';
export { listFactorsHandler as 'list-factors' } from './list-factors.ts';
export { listOperatorsHandler as 'list-operators' } from './list-operators.ts';
export { listProjectUsersHandler as 'list-project-users' } from './list-project-users.ts';
export { listProjectsHandler as 'list-projects' } from './list-projects.ts';
export { listSessionsHandler as 'list-sessions' } from './list-sessions.ts';
export { listUserSessionsHandler as 'list-user-sessions' } from './list-user-sessions.ts';
export { rebuildBlocksHandler as 'rebuild-blocks' } from './rebuild-blocks.ts';
export { removeFactorHandler as 'remove-factor' } from './remove-factor.ts';
export { removeUserFactorsHandler as 'remove-user-factors' } from './remove-user-factors.ts';
export { renewRecoveryCodesHandler as 'renew-recovery-codes' } from './renew-recovery-codes.ts';
export { requestNewAccessTokenHandler as 'request-new-access-token' } from './request-new-access-token.ts';
export { revokeKeyHandler as 'revoke-key' } from './revoke-key.ts';
export { rotateKeysHandler as 'rotate-keys' } from './rotate-keys.ts';
export { setPasswordHandler as 'set-password' } from './set-password.ts';
export { signInHandler as 'sign-in' } from './sign-in.ts';
export { signOutHandler as 'sign-out' } from './sign-out.ts';
export { signUpHandler as 'sign-up' } from './sign-up.ts';
export { stepUpHandler as 'step-up' } from './step-up.ts';
export { suggestUsersHandler as 'suggest-users' } from './suggest-users.ts';
export {
  restoreUserHandler as 'restore-user',
  suspendUserHandler as 'suspend-user',
} from './suspend-user.ts';
export { updateProjectHandler as 'update-project' } from './update-project.ts';
export { updateUserHandler as 'update-user' } from './update-user.ts';
export { verifyExternalUserHandler as 'verify-external-user' } from './verify-external-user.ts';
