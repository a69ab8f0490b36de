// Matrices of graphs, on which sparse products run outside of grids. See matrix/gallery.hpp.
//
// They imitate well-known collections in what decides a product's speed: the lengths of rows and
// where columns lie. Unless said otherwise an edge has a random weight in (0, 1], the same both
// ways where the graph is undirected, there are no loops, and duplicates are merged.
#pragma once

#include <cstdint>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// A triangulation of nx x ny points, a grid that was shaken by up to 0.2 of its width: each
/// quadrangle is cut along the diagonal that Delaunay's criterion prefers for its four points. It
/// is not the Delaunay triangulation of random points (SuiteSparse's delaunay_nK), but like it
/// planar, with degrees from 2 to 8, 6 on average. Symmetric; 2 ((nx - 1) ny + nx (ny - 1) + (nx -
/// 1) (ny - 1)) entries.
template <class T>
[[nodiscard]] csr_matrix<T> delaunay(std::int64_t nx, std::int64_t ny, std::uint64_t seed = 1);

/// A circuit like SuiteSparse's FullChip: about 9 entries a row, but three nets reach 3/4, 1/4 and
/// 1/10 of all nodes. The others connect a node to the two beside it, to those a row of cells away,
/// and to up to two anywhere. The entries are nodal equations of random conductances in (0, 1] (Ho,
/// Ruehli, Brennan, The modified nodal approach to network analysis, 1975): minus the conductance
/// between two nodes, the diagonal their sum times 1 + 2^-10 (a leak to ground). Symmetric positive
/// definite, strictly diagonally dominant. n: 16 or more.
template <class T>
[[nodiscard]] csr_matrix<T> fullchip(std::int64_t n, std::uint64_t seed = 1);

/// Overlaps of k-mers as in SuiteSparse's kmer_* (GenBank): paths of some 100 vertices whose
/// numbers are scattered, one vertex in 64 with 1 to 38 branches beside. About 2.1 entries a row,
/// at most 40. Symmetric. n: 2 or more.
template <class T>
[[nodiscard]] csr_matrix<T> kmer(std::int64_t n, std::uint64_t seed = 1);

/// Kronecker graph of Graph500 (specification 2.0, section 3; Leskovec et al., JMLR 11, 2010): 2^k
/// vertices with scattered numbers, edge_factor 2^k edges drawn with A = 0.57, B = C = 0.19,
/// undirected. The most connected vertices have a percent of all others as neighbours. Symmetric;
/// at most 2 edge_factor 2^k entries, as loops are dropped. k: 1 to 30; edge_factor: 1 to 1024.
/// Memory while it is built: 8 bytes an edge and 8 a row beside the result's columns.
template <class T>
[[nodiscard]] csr_matrix<T> kron(std::int64_t k, std::int64_t edge_factor = 16,
                                 std::uint64_t seed = 1);

/// Random geometric graph (SuiteSparse's and the tenth DIMACS challenge's rgg_n_2_K): 2^k random
/// points of the unit square, neighbours if closer than 0.55 sqrt(ln n / n), which just connects
/// them. 0.95 ln n entries a row on average. Points are numbered by cells of about that size, row
/// by row. Symmetric. k: 1 to 30.
template <class T>
[[nodiscard]] csr_matrix<T> rgg(std::int64_t k, std::uint64_t seed = 1);

/// The edges of kron, each in one direction only (R-MAT: Chakrabarti, Zhan, Faloutsos, SDM 2004).
/// Not symmetric; at most edge_factor 2^k entries; rows may be empty. Memory while it is built: 4
/// bytes an edge and 8 a row beside the result's columns.
template <class T>
[[nodiscard]] csr_matrix<T> rmat(std::int64_t k, std::int64_t edge_factor = 16,
                                 std::uint64_t seed = 1);

/// A road network: n x n crossings, each with a road to one of the two before it (a random binary
/// tree, so that all are connected), and to the other in 2 cases of 5; a road has 0 to 3 vertices
/// on its way. Planar, about 3.1 n^2 rows of 2.26 entries on average, at most 4, and a diameter of
/// several n, like SuiteSparse's road_usa (2.4) and europe_osm (2.1). Symmetric. n: 2 to 17515.
template <class T>
[[nodiscard]] csr_matrix<T> road(std::int64_t n, std::uint64_t seed = 1);

/// Pages of a web crawl in the order of their addresses: hosts of 32 to 4096 pages. A page has
/// d links, P(d > x) ~ x^-1.6, about `mean` on average and at most 8192; 4 of 5 stay within the
/// host, the others go to pages of popular hosts, so that columns are uneven too (Broder et al.,
/// Graph structure in the web, 2000; Boldi, Vigna, The WebGraph framework, 2004). A link of a page
/// with d has the value 1 / d: rows sum to 1, as for PageRank (but a page alone on its host may
/// have no link). Not symmetric. n: 2 or more; mean: 2 to 256.
template <class T>
[[nodiscard]] csr_matrix<T> web(std::int64_t n, std::int64_t mean = 16, std::uint64_t seed = 1);

} // namespace krylith
