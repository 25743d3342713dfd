/** The addresses of the application, below `#`. */
export type Route =
  | { page: 'people' }
  | { page: 'person'; id: string }
  | { page: 'connections' }
  | { page: 'requests' }
  | { page: 'blocked' }
  /** An open folder is named together with its parent, because the page finds the folder in the parent's list of folders. */
  | { page: 'folders'; open?: { parentId: string; id: string } }
  | { page: 'notifications' }
  | { page: 'account' }
  /** The target of a link in a mail: `#/mail?mail=<kind>&token=<token>`. */
  | { page: 'mail'; kind: string; token: string };

/**
 * If a project has no `mailLinkBase`, links in its mails lead to `/?mail=<kind>&token=<token>`. If this page was opened by such
 * a link, changes its address to that of the page for mails. So the token is not sent to any server again.
 */
export function adoptMailLink(): void {
  const { pathname, search } = location;
  if (new URLSearchParams(search).has('mail')) history.replaceState(null, '', `${pathname}#/mail${search}`);
}

/** Returns the route that an address names. An unknown or empty address names the page `people`. */
export function routeOf(hash: string): Route {
  const [path = '', query] = hash.split('?');
  const [page, id, subId] = path.replace(/^#\/?/, '').split('/').map(decoded);
  switch (page) {
    case 'people':
      return id ? { page: 'person', id } : { page };
    case 'folders':
      return id && subId ? { page, open: { parentId: id, id: subId } } : { page };
    case 'connections':
    case 'requests':
    case 'blocked':
    case 'notifications':
    case 'account':
      return { page };
    case 'mail': {
      const given = new URLSearchParams(query);
      return { page, kind: given.get('mail') ?? '', token: given.get('token') ?? '' };
    }
    default:
      return { page: 'people' };
  }
}

/**
 * Decodes a part of an address. If somebody has cut off or mistyped the part, it is returned unchanged, and the page finds
 * nothing under it.
 */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a route, for `href`. */
export function hrefOf(route: Route): string {
  return `#/${partsOf(route).map(encodeURIComponent).join('/')}`;
}

function partsOf(route: Route): string[] {
  if (route.page === 'person') return ['people', route.id];
  if (route.page === 'folders' && route.open) return ['folders', route.open.parentId, route.open.id];
  return [route.page];
}
