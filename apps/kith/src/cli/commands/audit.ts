import type { AuditRow } from '@kith/contracts';
import { type Command, type Option, textOf } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';
import { walkList } from '../walk-list.ts';

/** For each option, the query parameter that it sets. */
const filters = {
  project: 'projectId',
  actor: 'actor',
  action: 'action',
  from: 'from',
  to: 'to',
} as const;

const options = {
  project: { value: 'ID', text: 'only what was done in this project' },
  actor: {
    value: 'ID',
    text: 'only what the user or key with this id has done; `operator` stands for OPERATOR_TOKEN',
  },
  action: { value: 'NAME', text: 'only this operation, for example identity.sign-in' },
  from: { value: 'TIME', text: 'only from this time on: 2026-01-31T00:00:00Z' },
  to: { value: 'TIME', text: 'only before this time' },
  ...accessOptions,
} satisfies Record<string, Option>;

/** Lists the rows of the audit log, newest first. */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'list what was done, when and by whom',
  reads: accessConfig,
  options,
  async run(given, around) {
    const query = Object.entries(filters).flatMap(([option, name]) => {
      const value = textOf(given, option);
      return value === undefined ? [] : [[name, value]];
    });
    const rows = await walkList<AuditRow>(
      accessPlatform(given, around),
      '/admin/audit',
      Object.fromEntries(query),
    );
    const text = tableOf(rows, {
      at: ({ at }) => at,
      actor: ({ actor }) => actor,
      action: ({ action }) => action,
      outcome: ({ outcome, count }) => (count > 1 ? `${outcome} (${count} times)` : outcome),
      target: ({ target }) => target ?? '',
      project: ({ projectId }) => projectId ?? '',
      ip: ({ ip }) => ip,
      request: ({ requestId }) => requestId,
    });
    return { value: rows, text };
  },
};
