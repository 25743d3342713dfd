import { isDeepStrictEqual } from 'node:util';

export type Id = string | number;
export interface Stored {
  _id: Id;
  [field: string]: unknown;
}
type Fields = Record<string, unknown>;

/** The code under test uses a feature that the model does not have. Add the feature to the model. Never ignore this error. */
export class NotModelled extends Error {
  /** The first such error, because the code under test may catch it. */
  static first: NotModelled | undefined;

  constructor(what: string) {
    super(`The model of a replica set has no ${what}.`);
    NotModelled.first ??= this;
  }
}

/** A deep copy. Dates are shared, because they are never changed. */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (isFields(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyOf(one)])) as T;
  }
  if (!isScalar(value)) throw new NotModelled(`stored ${typeof value}`);
  return value;
}

/** Whether a document matches a filter. */
export function matches(document: unknown, filter: Fields): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    if (path.startsWith('$')) throw new NotModelled(`filter ${path}`);
    return meets(valuesAt(document, path.split('.')), condition);
  });
}

/** A document after an update. */
export function updated(document: Stored, update: Fields): Stored {
  const next = copyOf(document) as Stored;
  const touched = new Set<string>();
  for (const [operator, fields] of Object.entries(update)) {
    for (const [field, operand] of Object.entries(fields as Fields)) {
      if (field.includes('.')) throw new NotModelled(`update of the path ${field}`);
      if (touched.has(field)) throw new Error(`Two operators update ${field}.`);
      touched.add(field);
      apply(next, operator, field, operand);
    }
  }
  if (next._id !== document._id) throw new Error('An update changes an _id.');
  return next;
}

/** Orders documents as a find does. */
export function inOrder(documents: readonly Stored[], sort: Fields): Stored[] {
  const [[field, direction] = [], ...others] = Object.entries(sort);
  if (field === undefined) return [...documents];
  if (others.length > 0) throw new NotModelled('sort by several fields');
  return documents.toSorted((a, b) => (compare(a[field], b[field]) ?? 0) * Number(direction));
}

/** The part of a document that a find asks for. */
export function projected(document: Stored, projection: Fields | undefined): Stored {
  if (!projection) return copyOf(document);
  const names = Object.keys(projection);
  if (names.some((name) => name.includes('.') || projection[name] !== 1))
    throw new NotModelled(`projection ${JSON.stringify(projection)}`);
  const kept = Object.entries(document).filter(([name]) => name === '_id' || names.includes(name));
  return copyOf(Object.fromEntries(kept)) as Stored;
}

function meets(found: readonly unknown[], condition: unknown): boolean {
  const all = found.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value]));
  if (!isFields(condition)) {
    if (!isScalar(condition) || condition === null) throw new NotModelled(`filter for ${String(condition)}`);
    return all.some((value) => isDeepStrictEqual(value, condition));
  }
  return Object.entries(condition).every(([operator, operand]) => {
    const isAny = (test: (order: number) => boolean) =>
      all.some((value) => {
        const order = compare(value, operand);
        return order !== undefined && test(order);
      });
    switch (operator) {
      case '$exists':
        return found.length > 0 === operand;
      case '$in':
        return (operand as unknown[]).some((one) => meets(found, one));
      case '$nin':
        return !(operand as unknown[]).some((one) => meets(found, one));
      case '$not':
        return !meets(found, operand);
      case '$elemMatch':
        return found.some(
          (value) => Array.isArray(value) && value.some((one) => matches(one, operand as Fields)),
        );
      case '$size':
        return found.some((value) => Array.isArray(value) && value.length === operand);
      case '$gt':
        return isAny((order) => order > 0);
      case '$gte':
        return isAny((order) => order >= 0);
      case '$lt':
        return isAny((order) => order < 0);
      case '$lte':
        return isAny((order) => order <= 0);
      default:
        throw new NotModelled(`filter ${operator}`);
    }
  });
}

function apply(next: Fields, operator: string, field: string, operand: unknown): void {
  const value = next[field];
  const list = () => {
    if (value !== undefined && !Array.isArray(value)) throw new Error(`${field} is not an array.`);
    return value ?? [];
  };
  const each = () => (isFields(operand) && '$each' in operand ? (operand.$each as unknown[]) : [operand]);
  switch (operator) {
    case '$set':
      next[field] = copyOf(operand);
      return;
    case '$unset':
      delete next[field];
      return;
    case '$inc':
      next[field] = Number(value ?? 0) + Number(operand);
      return;
    case '$min':
    case '$max': {
      const order = value === undefined ? undefined : compare(operand, value);
      if (order === undefined || (operator === '$min' ? order < 0 : order > 0)) next[field] = operand;
      return;
    }
    case '$push':
      next[field] = [...list(), ...copyOf(each())];
      return;
    case '$addToSet':
      next[field] = [...new Set([...list(), ...each()])];
      return;
    case '$pull':
      if (value !== undefined) next[field] = list().filter((one) => !matches(one, operand as Fields));
      return;
    default:
      throw new NotModelled(`update ${operator}`);
  }
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (Array.isArray(value)) {
    const within = value.filter(isFields).flatMap((one) => valuesAt(one, path));
    return /^\d+$/.test(name) && Number(name) < value.length
      ? [...valuesAt(value[Number(name)], rest), ...within]
      : within;
  }
  return isFields(value) && name in value ? valuesAt(value[name], rest) : [];
}

/**
 * Compares two values: the result is below, above or equal to 0. The result is `undefined` for values of different types: no
 * range contains both.
 */
function compare(one: unknown, other: unknown): number | undefined {
  if (one instanceof Date && other instanceof Date) return one.getTime() - other.getTime();
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other);
  return undefined;
}

function isScalar(value: unknown): boolean {
  return value === null || value instanceof Date || ['string', 'number', 'boolean'].includes(typeof value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
