import type { Operation } from './operations/index.ts';

/** The name of a service: the first part of an operation's name. */
export type ServiceOf<Name extends string> = Name extends `${infer Service}.${string}` ? Service : never;

/** A service that serves operations. */
export type ServiceName = ServiceOf<Operation['name']>;

/** The service that serves an operation. */
export function serviceOf(spec: { name: string }): ServiceName {
  return spec.name.slice(0, spec.name.indexOf('.')) as ServiceName;
}
