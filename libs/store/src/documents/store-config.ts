/** Where a service keeps its data: MongoDB in the distributed form, SQLite in the embedded one. */
export type StoreConfig =
  | { kind: 'mongo'; url: string; database: string }
  | { kind: 'sqlite'; file: string; synchronous?: 'normal' | 'full' };
