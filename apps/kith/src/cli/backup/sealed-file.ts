/** The file that holds all of a sealed backup. */
export const sealedFile = 'backup.sealed';
