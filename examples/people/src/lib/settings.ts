export interface Settings {
  url: string;
  projectId: string;
}

/** Reads the platform's address and this application's project from `kith.json` beside this page. */
export async function loadSettings(): Promise<Settings> {
  const settings = await fetch('kith.json')
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined);
  if (typeof settings?.url === 'string' && typeof settings.projectId === 'string') return settings;
  throw new Error('kith.json is missing beside this page. It has to contain {"url": …, "projectId": …}.');
}
