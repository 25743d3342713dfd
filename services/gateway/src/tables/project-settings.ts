import { ApiError } from '@kith/base';
import {
  type GatewaySettings,
  getProjectSettings,
  type OperationSpec,
  projectSettingsNotice,
} from '@kith/contracts';
import { askPages } from './ask-pages.ts';
import { Following, type FollowingOptions } from './following.ts';
import { HeardTable } from './heard-table.ts';

export type Settings = Omit<GatewaySettings, 'projectId'>;

const defaults: Settings = { limits: {}, webOrigins: [], publicProfiles: 'card', publicConnections: true };

/** The project settings that gateways enforce. If a project has set none of them, it takes no memory (docs/adr/0013). */
export class ProjectSettings {
  readonly #options: FollowingOptions;
  readonly #projects = new HeardTable<Settings>();
  #following: Following | undefined;

  private constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Makes a first attempt to load the settings. Resolves even if there is no answer. Further attempts then follow. */
  static async open(options: FollowingOptions): Promise<ProjectSettings> {
    const settings = new ProjectSettings(options);
    const followed = {
      notice: projectSettingsNotice,
      hear(project: GatewaySettings) {
        // A deleted project never comes back. A notice that was sent before the deletion may arrive after it.
        if (settings.#projects.get(project.projectId)?.isDeleted && !project.isDeleted) return;
        settings.#projects.hear(project.projectId, ownOf(project));
      },
      load: () => settings.#load(),
    };
    settings.#following = await Following.open(followed, options);
    return settings;
  }

  /**
   * Whether the settings have been loaded at least once. After the first load they stay in use, even while identity is away.
   */
  get isLoaded(): boolean {
    return this.#following?.isLoaded ?? false;
  }

  /** How long ago the settings were last loaded, in seconds. Undefined before the first load. */
  get ageSeconds(): number | undefined {
    return this.#following?.ageSeconds;
  }

  /** How many projects are in the table: those that have set something, and those that are deleted. */
  get size(): number {
    return this.#projects.size;
  }

  /** Resolves when the settings have been loaded. Throws `gateway/unavailable` if they cannot be loaded now. */
  async loaded(): Promise<void> {
    await this.#following?.loaded();
  }

  /** A project's settings. If the project has set nothing, does not exist or is not loaded yet, returns the default settings. */
  of(projectId: string | null): Settings {
    return (projectId === null ? undefined : this.#projects.get(projectId)) ?? defaults;
  }

  /**
   * Throws `project/not-found` if the project is deleted and the operation does not answer for deleted projects
   * (spec#projects-deleting).
   */
  checkThere(projectId: string | null | undefined, operation: OperationSpec): void {
    if (projectId == null || operation.answersDeleted) return;
    if (this.#projects.get(projectId)?.isDeleted) throw new ApiError('project/not-found');
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  async #load(): Promise<void> {
    const { bus, timeoutMs } = this.#options;
    const { mark } = this.#projects;
    const pages = await askPages(bus, getProjectSettings, {
      requestId: 'gateway-project-settings',
      timeoutMs,
    });
    const projects = pages.flatMap((page) => page.projects);
    this.#projects.replace(
      projects.map(({ projectId, ...settings }) => [projectId, settings] as const),
      mark,
    );
  }
}

/** The settings, or null if nothing differs from the defaults. */
function ownOf({ projectId: _, ...settings }: GatewaySettings): Settings | null {
  const { limits, webOrigins, publicProfiles, publicConnections, storageMib, isDeleted } = settings;
  if (isDeleted || storageMib !== undefined || publicProfiles !== 'card') return settings;
  const isDefault = Object.keys(limits).length === 0 && webOrigins.length === 0 && publicConnections;
  return isDefault ? null : settings;
}
