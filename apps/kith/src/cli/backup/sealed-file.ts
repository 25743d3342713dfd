/** The name of the file that holds a whole sealed backup. */
export const sealedFile = 'backup.sealed';
