/** All of a sealed backup. */
export const sealedFile = 'backup.sealed';
