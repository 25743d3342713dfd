import { useRoute } from '../hooks/use-route.ts';
import { hrefOf, type Route } from '../lib/routes.ts';

/** Links to the parts of a page. */
export function Tabs({ label, tabs }: { label: string; tabs: { label: string; to: Route }[] }) {
  const { page } = useRoute();
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.label} href={hrefOf(tab.to)} aria-current={tab.to.page === page ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
