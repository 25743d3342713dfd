import {
  type AnyCollection,
  asDeclared,
  type Collection,
  type Counters,
  type Declared,
} from './collection.ts';
import { contentOf } from './mongo-content.ts';
import { openDocuments } from './open-documents.ts';
import { type MovedRow, type MovedTable, movedEvents, movedFacts, type ServiceMove } from './service-move.ts';
import { columnsOf, keyColumn, valuesOf } from './sqlite-table.ts';

/** How to move a service's data from the embedded form to the distributed form. */
export function movedDocuments({ service, declared }: { service: string; declared: Declared }): ServiceMove {
  const { collections, counters = [] } = declared;
  return {
    service,
    tables: [
      ...collections.map(movedCollection),
      ...counters.map(movedCounters),
      movedEvents,
      movedFacts,
      {
        table: 'layout',
        key: ['name'],
        collection: 'layout',
        document: ({ name, made }) => ({ _id: name, made }),
      },
    ],
    async prepare(config) {
      await (await openDocuments(config, declared)).close();
    },
  };
}

function movedCollection(of: AnyCollection): MovedTable {
  return {
    table: of.name,
    key: ['id'],
    collection: of.name,
    document: ({ id, shape, doc, epoch, newest, changed }) => ({
      _id: id,
      ...contentOf(of, id, asDeclared(of, JSON.parse(doc), shape)),
      // This `rev` only has to be lower than the `rev` of any later change.
      rev: 1,
      ...(of.kind === 'copy' && { epoch, newest }),
      ...(typeof changed === 'number' && { changedAt: new Date(changed) }),
    }),
  };
}

function movedCounters({ name, fields }: Counters): MovedTable {
  return {
    table: name,
    key: ['id'],
    collection: name,
    document: (row) => ({
      _id: row.id,
      ...Object.fromEntries(fields.map((field) => [field, row[keyColumn(field)]])),
    }),
  };
}

/** A document as a row of its table on SQLite, for code that fills a database without its service. */
export function documentRow<D>(of: Collection<D>, id: string, doc: D): { table: string; row: MovedRow } {
  const values = [...valuesOf(of, { id, rev: 1, doc }), ...(of.kind === 'copy' ? [0, 1] : [])];
  const row = Object.fromEntries(columnsOf(of).map((column, at) => [column, values[at]]));
  return { table: of.name, row };
}

/** Counters as a row of their table on SQLite. */
export function counterRow(
  { name, fields }: Counters,
  id: string,
  sums: Readonly<Record<string, number>>,
): { table: string; row: MovedRow } {
  const values = fields.map((field) => [keyColumn(field), sums[field] ?? 0]);
  return { table: name, row: { id, ...Object.fromEntries(values) } };
}
