import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from './ask.ts';
import { Key } from './key.ts';
import type { Record } from './record.ts';

/** The context that every `Key` needs for its requests. */
export interface Scene {
  ask: Ask;
  /** The record of the current row. */
  record(): Record;
  random(): number;
  /** Returns a new name that nothing else has. */
  name(): string;
}

/** A user's account, with profile, session and feed. Only one request at a time changes the account. */
export class Person extends Key {
  readonly scene: Scene;
  readonly id: string;
  readonly email: string;
  readonly password: string;
  accessToken: string;
  refreshToken: string;
  name: string;
  /** Every acknowledged name, in order. `unsureNames` are names that may have been stored although no answer confirmed it. */
  readonly names: string[] = [];
  readonly unsureNames = new Set<string>();

  constructor(
    scene: Scene,
    account: Pick<Person, 'id' | 'email' | 'password' | 'accessToken' | 'refreshToken' | 'name'>,
  ) {
    super();
    this.scene = scene;
    this.id = account.id;
    this.email = account.email;
    this.password = account.password;
    this.accessToken = account.accessToken;
    this.refreshToken = account.refreshToken;
    this.name = account.name;
  }

  async act(): Promise<void> {
    if (this.unsureUntil !== undefined) return this.learn();
    const chance = this.scene.random();
    if (chance < 0.1) return this.rotate();
    if (chance < 0.4) return this.rename();
    return this.learn();
  }

  async rename(): Promise<void> {
    const { ask, record } = this.scene;
    const name = this.scene.name();
    const { accessToken: token } = this;
    let answer = await ask('identity', 'PATCH', `/users/${this.id}`, { token, body: { name } });
    // If there was no answer, the same request is sent again. This is safe, because renaming twice is the same as renaming once.
    if (answer.status === 0) {
      answer = await ask('identity', 'PATCH', `/users/${this.id}`, { token, body: { name } });
      this.unsureNames.add(name);
    }
    if (answer.isOk) {
      record().acknowledged += 1;
      this.name = name;
      this.names.push(name);
    } else if (answer.isCertain && answer.status !== 503) {
      record().wrong.push(`renaming a user: ${answer.status} ${answer.body?.code}`);
    } else if (!answer.isCertain) {
      this.unsureNames.add(name);
      this.beUnsure();
    }
  }

  /**
   * Reads the profile, and compares its name with the expected name. If it is not known whether the last name was stored, finds
   * this out.
   */
  async learn(): Promise<void> {
    const { ask, record } = this.scene;
    const answer = await ask('identity', 'GET', `/users/${this.id}`, { token: this.accessToken });
    if (!answer.isCertain || answer.status === 503) return;
    const { name } = answer.body ?? {};
    if (this.unsureUntil !== undefined && this.unsureNames.has(name)) this.name = name;
    if (name !== this.name) record().wrong.push(`a user is named ${name}, not ${this.name}`);
    this.unsureUntil = undefined;
  }

  /**
   * Rotates the refresh token. If there is no answer, tries again with the same token during the token's grace period. After
   * this period, the platform would treat the token as stolen, so the person signs in again.
   */
  async rotate(): Promise<void> {
    const { ask, record } = this.scene;
    const { refreshToken } = this;
    const until = performance.now() + graceMs;
    while (performance.now() < until) {
      const answer = await ask('identity', 'POST', '/auth/request-new-access-token', {
        body: { refreshToken },
      });
      if (answer.isOk) {
        record().acknowledged += 1;
        this.accessToken = answer.body.accessToken;
        this.refreshToken = answer.body.refreshToken;
        return;
      }
      if (answer.isCertain && answer.status !== 503) {
        record().wrong.push(`a rotation was refused: ${answer.status} ${answer.body?.code}`);
        break;
      }
      await sleep(500);
    }
    await this.signIn();
  }

  /**
   * Signs in, and repeats the request until it is answered. Called when the person's refresh token may already have been used.
   * If the person sent this token once more, the platform would treat the token as stolen.
   */
  async signIn(): Promise<void> {
    const { ask, record } = this.scene;
    const { email, password } = this;
    for (;;) {
      const answer = await ask('identity', 'POST', '/auth/sign-in', { body: { email, password } });
      if (answer.isOk) {
        this.accessToken = answer.body.accessToken;
        this.refreshToken = answer.body.refreshToken;
        return;
      }
      if (answer.isCertain && answer.status !== 503) {
        record().wrong.push(`a sign-in was refused: ${answer.status} ${answer.body?.code}`);
        return;
      }
      await sleep(500);
    }
  }

  async readProfile(): Promise<void> {
    const token = this.accessToken;
    await this.scene.ask('identity', 'GET', `/users/${this.id}`, { token });
  }

  async readFeed(): Promise<void> {
    const token = this.accessToken;
    await this.scene.ask('notifications', 'GET', '/app-notifications', { token });
  }

  async readConnections(): Promise<void> {
    const token = this.accessToken;
    await this.scene.ask('connections', 'GET', '/connections?limit=20', { token });
  }
}

/**
 * The longest time between the first try and the beginning of a retry, in ms. The platform has to handle the retry within the
 * old token's grace period of 30 s, and a retry may take up to 15 s.
 */
const graceMs = 14_000;
