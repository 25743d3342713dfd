import type { Operation } from './operations/index.ts';

/** The service in the name of an operation. */
export type ServiceOf<Name extends string> = Name extends `${infer Service}.${string}` ? Service : never;

/** A service that serves operations. */
export type ServiceName = ServiceOf<Operation['name']>;

/** The service that serves an operation. */
export function serviceOf(spec: { name: string }): ServiceName {
  return spec.name.slice(0, spec.name.indexOf('.')) as ServiceName;
}
