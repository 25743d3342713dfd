/** A page: some items of a list. The pages of all lists have this form. */
export interface Page<Item> {
  readonly items: Item[];
  /** The number of all items; undefined if the platform does not count them. In a long audit log, it is a lower bound. */
  readonly total: number | undefined;
  /** Where the next page begins: pass it as `cursor`. Undefined on the last page. */
  readonly cursor: string | undefined;
}

/** The page size of a walk over items: no list has larger pages, and a platform with smaller pages gives its largest ones. */
const walkedPage = 100;

/** Where a page begins, and its size if the caller has chosen none. */
export interface PageAsked {
  cursor?: string;
  limit?: number;
}

/**
 * A list that the client loads page by page. `await` gives its first page. `for await` iterates over all its items, and
 * `pages()` over all its pages. If items are added or removed in the meantime, the iteration neither repeats nor misses the
 * other items.
 */
export class List<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #load: (asked: PageAsked) => Promise<Page<Item>>;

  /** @param load Loads the page at a cursor. Without a cursor, loads the page that the caller asked for. */
  constructor(load: (asked: PageAsked) => Promise<Page<Item>>) {
    this.#load = load;
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited like any other call.
  then<A = Page<Item>, B = never>(
    onPage?: ((page: Page<Item>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#load({}).then(onPage, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Page<Item> | B> {
    return this.then(undefined, onError);
  }

  pages(): AsyncGenerator<Page<Item>, void, undefined> {
    return this.#walk({});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.#walk({ limit: walkedPage })) yield* items;
  }

  async *#walk(asked: PageAsked): AsyncGenerator<Page<Item>, void, undefined> {
    for (let at: PageAsked | undefined = asked; at; ) {
      const page: Page<Item> = await this.#load(at);
      yield page;
      at = page.cursor === undefined ? undefined : { ...asked, cursor: page.cursor };
    }
  }
}

interface Envelope {
  readonly [key: string]: unknown;
  readonly pagination?: { readonly totalCount?: number; readonly totalItems?: number };
}

/** Reads a page from an answer. `key` is the key of the items in the answer; if `key` is empty, the answer is a bare array. */
export function pageOf<Item>(answer: { headers: Headers; body: unknown }, key: string): Page<Item> {
  const body = answer.body as Envelope;
  const { totalCount, totalItems } = body.pagination ?? {};
  return {
    items: (key === '' ? answer.body : body[key]) as Item[],
    total: totalCount ?? totalItems,
    cursor: nextCursor(answer.headers.get('link')),
  };
}

/** The cursor of a `Link` to the next page (RFC 8288). */
function nextCursor(link: string | null): string | undefined {
  const query = /<[^>?]*\?([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get('cursor') ?? undefined);
}
