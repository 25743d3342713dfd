import { publicUrl, publicUrlText, secretConfig, storingServiceConfig, tokenConfig } from '@kith/service';
import { z } from 'zod';

/** The environment variables of the service when it runs as a process of its own. */
export const identityConfig = z.object({
  ...storingServiceConfig.shape,
  ...tokenConfig.shape,
  ...secretConfig.shape,
  ERASURES_FILE: z
    .string()
    .optional()
    .describe(
      'file that lists all erased users and projects, so that they can be erased again after a restore. Keep it on another disk than the database. All replicas of identity share it',
    ),
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'the address of a mail server is needed, smtps://user:password@host',
    })
    .optional()
    .describe(
      'server that sends the mails: `smtps://user:password@host:465`, or `smtp://…:587` if the server offers TLS. Outside of production, `?requireTLS=false` allows a server without TLS. If `SMTP_URL` is not set, development writes mails to files, and production refuses requests that need a mail',
    ),
  MAIL_FROM: z
    .email({ error: 'the e-mail address that mails come from is needed' })
    .optional()
    .describe('sender address of mails; needed with `SMTP_URL`'),
  MAIL_FOLDER: z
    .string()
    .optional()
    .describe(
      'folder to which mails are written if `SMTP_URL` is not set, never in production; default: `mail` in the data folder, if there is one',
    ),
  PUBLIC_URL: publicUrl.optional().describe(publicUrlText),
});
