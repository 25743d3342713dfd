// Checked by the compiler (`npm run check`) and never run.
import type * as contracts from '@kith/contracts';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type {
  ErrorCode,
  Json,
  KithClient,
  Methods,
  ServerMethods,
  SessionAnswer,
  UploadSource,
} from '../src/index.ts';
import type { OperatorClient } from '../src/operator.ts';

type Contracts = typeof contracts;

/** Every operation that the contracts export, by its name. */
type Operations = {
  [Key in keyof Contracts as Contracts[Key] extends contracts.OperationSpec
    ? Contracts[Key]['name']
    : never]: Contracts[Key] extends contracts.OperationSpec ? Contracts[Key] : never;
};

/**
 * Operations without a generated method. The client calls some of them by itself. Others answer older client libraries with
 * text.
 */
type Apart =
  | 'identity.sign-out'
  | 'identity.request-new-access-token'
  | 'notifications.stream'
  | 'crypto.sign-testing-jwt-v2'
  | 'identity.verify-email-link';

/** All methods. Methods that only a server key may call are in a separate type. */
type All = Methods & Pick<ServerMethods, 'notifications.create'>;
type Generated = { [Key in keyof All as All[Key]['operation']]: All[Key] };

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The members of an intersection as one object, at all levels. `Json` stays as it is, because it is recursive. */
type Flat<T> = [T, Json] extends [Json, T]
  ? Json
  : T extends UploadSource | Response
    ? T
    : T extends object
      ? { [Key in keyof T]: Flat<T[Key]> }
      : T;

/**
 * The query as a caller writes it. Optional fields may be left out. A numeric field takes a number, and not a string of digits.
 */
type QueryInput<Q extends z.ZodObject> = {
  [Key in keyof z.input<Q>]: Key extends keyof z.output<Q>
    ? Exclude<z.output<Q>[Key], undefined> | Extract<z.input<Q>[Key], undefined>
    : never;
};
/** An empty object, which zod infers as a record of never, adds no member. */
type Members<T> = T extends Record<string, never> ? unknown : T;
type InputOf<O extends contracts.OperationSpec> = Members<z.input<O['params']>> &
  Members<QueryInput<O['query']>> &
  (O extends { upload: contracts.Upload } ? FormInput<O> : Members<z.input<O['body']>>);
/**
 * The input of an upload: the bytes, and the other fields. A field has its own type here, although the form sends it as a text.
 */
type FormInput<O extends contracts.OperationSpec & { upload: contracts.Upload }> = {
  [Part in O['upload']['part']]: UploadSource;
} & { name?: string | undefined } & (O['body'] extends z.ZodObject ? Members<QueryInput<O['body']>> : never);
type OutputOf<O extends contracts.OperationSpec> = O extends { kind: 'download' }
  ? Response
  : z.output<O['output']>;
type Taken<T> = keyof T extends never ? undefined : Flat<T>;

/** The items of a list with any envelope. For other operations, the output itself. */
type ItemsOf<Output> =
  Extract<Output, { pagination: unknown }> extends infer Envelope
    ? [Envelope] extends [never]
      ? Output
      : {
          [Key in keyof Envelope]-?: Exclude<Envelope[Key], undefined> extends readonly unknown[]
            ? Exclude<Envelope[Key], undefined>
            : never;
        }[keyof Envelope]
    : never;

type ErrorsOf<O extends contracts.OperationSpec> = O['errors'][number] | Values<O['invalid']>;
type Values<T> = T extends Readonly<Record<string, infer Value>> ? Value : never;

/** The names of operations whose generated types differ from their contracts. */
type Wrong<What extends 'input' | 'output' | 'errors'> = {
  [Name in Exclude<keyof Operations, Apart>]: Name extends keyof Generated
    ? {
        input: Same<Flat<Generated[Name]['input']>, Taken<InputOf<Operations[Name]>>>;
        output: Same<Flat<Generated[Name]['output']>, Flat<ItemsOf<OutputOf<Operations[Name]>>>>;
        errors: [ErrorsOf<Operations[Name]>] extends [Generated[Name]['errors']] ? true : false;
      }[What] extends true
      ? never
      : Name
    : Name;
}[Exclude<keyof Operations, Apart>];

// Every operation of the contracts has a method, and there is no other method.
expectTypeOf<keyof Generated>().toEqualTypeOf<Exclude<keyof Operations, Apart>>();
expectTypeOf<Apart>().toExtend<keyof Operations>();

// The generated types are the same as those of the contracts.
expectTypeOf<Wrong<'input'>>().toEqualTypeOf<never>();
expectTypeOf<Wrong<'output'>>().toEqualTypeOf<never>();
expectTypeOf<Wrong<'errors'>>().toEqualTypeOf<never>();
expectTypeOf<SessionAnswer>().toEqualTypeOf<contracts.Session>();
expectTypeOf<ErrorCode>().toEqualTypeOf<contracts.ErrorCode>();

// Only the methods that take an Idempotency-Key have an option for it.
type OptionsOf<Method extends (...given: never[]) => unknown> = NonNullable<Parameters<Method>[1]>;
expectTypeOf<OptionsOf<KithClient['auth']['signUp']>>().toHaveProperty('idempotencyKey');
expectTypeOf<OptionsOf<KithClient['connections']['request']>>().toHaveProperty('idempotencyKey');
expectTypeOf<OptionsOf<KithClient['connections']['list']>>().not.toHaveProperty('idempotencyKey');
expectTypeOf<OptionsOf<KithClient['auth']['signIn']>>().not.toHaveProperty('idempotencyKey');
expectTypeOf<OptionsOf<KithClient['storage']['createFile']>>().not.toHaveProperty('idempotencyKey');
expectTypeOf<OptionsOf<OperatorClient['projects']['create']>>().not.toHaveProperty('idempotencyKey');
