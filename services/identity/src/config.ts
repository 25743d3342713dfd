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
      'file in which each erasure of a user or a project is noted, for restoring a backup from before it; on another disk than the database, and shared by all replicas of identity',
    ),
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'the address of a mail server is needed, smtps://user:password@host',
    })
    .optional()
    .describe(
      'mail server that mails go out by: `smtps://user:password@host:465`, or `smtp://…:587`, which then has to offer TLS (outside production `?requireTLS=false` where it need not); without it mails land in files while developing, and in production nothing that needs a mail is answered',
    ),
  MAIL_FROM: z
    .email({ error: 'the e-mail address that mails come from is needed' })
    .optional()
    .describe('e-mail address that mails come from; needed with `SMTP_URL`'),
  MAIL_FOLDER: z
    .string()
    .optional()
    .describe(
      'folder in which mails land while there is no `SMTP_URL`, never in production; `mail` in the data folder where there is one',
    ),
  PUBLIC_URL: publicUrl.optional().describe(publicUrlText),
});
