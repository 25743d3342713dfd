import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFolder, readIfThere } from '../../forms/data-folder.ts';

/** Files of a folder that no platform may run on, and that needs no lock therefore. */
export function filesOf(path: string): Pick<DataFolder, 'file' | 'read' | 'write'> {
  const file = (name: string) => join(path, name);
  return {
    file,
    read: (name) => readIfThere(file(name)),
    write(name, content) {
      writeFileSync(file(name), content, { mode: 0o600, flush: true });
      chmodSync(file(name), 0o600);
    },
  };
}
