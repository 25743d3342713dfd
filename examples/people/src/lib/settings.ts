export interface Settings {
  url: string;
  projectId: string;
}

/** Reads `kith.json` beside this page: where the platform is, and which project is this application's. */
export async function loadSettings(): Promise<Settings> {
  const settings = await fetch('kith.json')
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined);
  if (typeof settings?.url === 'string' && typeof settings.projectId === 'string') return settings;
  throw new Error('kith.json is missing beside this page. It says {"url": …, "projectId": …}.');
}
