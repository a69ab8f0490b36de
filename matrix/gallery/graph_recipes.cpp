// The gallery's graphs and random matrices.
#include <krylith/matrix/gallery/recipe.hpp>

#include <array>

namespace krylith {

std::span<const recipe> graph_recipes() {
    static const std::array recipes{
        make_recipe(
            {"delaunay", "Graphs", "NX[:NY][:seed=SEED]",
             "delaunay-like: NX x NY shaken grid points, triangulated; planar, 6 nonzeros a row",
             "Symmetric, random weights in (0, 1], no diagonal. 2 (3 NX NY - 2 (NX + NY) + 1) "
             "nonzeros, 2 to 8 a row. Each quadrangle is cut as Delaunay's criterion says for its"
             " four points; not the Delaunay triangulation of random points, which SuiteSparse's "
             "delaunay_nK is.",
             "20:17"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                const std::int64_t nx = s.size(0, "NX");
                return delaunay<T>(nx, s.size_or(nx, 1, "NY"), s.named_seed().value_or(1));
            }),
        make_recipe(
            {"fullchip", "Graphs", "N[:seed=SEED]",
             "circuit of N nodes, 9 nonzeros a row on average, three rows of 3/4, 1/4, 1/10 of N",
             "Symmetric positive definite (conductances, strictly diagonally dominant). In the "
             "manner of SuiteSparse's FullChip, whose longest row has 77 percent of all columns.",
             "1000"},
            1, 1,
            []<class T>(const gallery_spec& s) {
                return fullchip<T>(s.size(0, "N", index_limit, 16), s.named_seed().value_or(1));
            }),
        make_recipe(
            {"kmer", "Graphs", "N[:seed=SEED]",
             "scattered paths with few branches, 2.1 nonzeros a row, at most 40",
             "Symmetric, random weights in (0, 1], no diagonal. In the manner of SuiteSparse's "
             "kmer_* (GenBank): rows that follow each other in a path lie far apart.",
             "2000"},
            1, 1,
            []<class T>(const gallery_spec& s) {
                return kmer<T>(s.size(0, "N", index_limit, 2), s.named_seed().value_or(1));
            }),
        make_recipe(
            {"kron", "Graphs", "K[:EDGE_FACTOR][:seed=SEED]",
             "Graph500 Kronecker graph of 2^K vertices, EDGE_FACTOR (16) times as many edges",
             "Symmetric, random weights in (0, 1], no diagonal. At most 2 EDGE_FACTOR 2^K "
             "nonzeros (duplicates merged, loops dropped), very uneven. A = 0.57, B = C = 0.19 as"
             " in Graph500, numbers scattered; as SuiteSparse's kron_g500-lognK.",
             "9"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                return kron<T>(s.size(0, "K", 30), s.size_or(16, 1, "EDGE_FACTOR", 1024),
                               s.named_seed().value_or(1));
            }),
        make_recipe({"random", "Random", "N:NNZ_PER_ROW[:SEED]",
                     "random places and values, not symmetric; exactly NNZ_PER_ROW (<= 256) a row",
                     "Not symmetric, often singular. N NNZ_PER_ROW nonzeros. Columns uniform and "
                     "distinct, values uniform in [-1, 1).",
                     "500:7"},
                    2, 3,
                    []<class T>(const gallery_spec& s) {
                        return random_uniform<T>(s.size(0, "N"), s.size(1, "NNZ_PER_ROW", 256),
                                                 s.count() == 3 ? s.seed(2, "SEED") : 1);
                    }),
        make_recipe(
            {"random_spd", "Random", "N:NNZ_PER_ROW[:SEED]",
             "random places and values, symmetric positive definite; up to NNZ_PER_ROW (<= 256) a"
             " row",
             "Symmetric positive definite, all eigenvalues at least 1. Up to N NNZ_PER_ROW "
             "nonzeros. The diagonal is 1 + the sum of the row's other magnitudes, values uniform"
             " in [-1, 1).",
             "500:7"},
            2, 3,
            []<class T>(const gallery_spec& s) {
                return random_spd<T>(s.size(0, "N"), s.size(1, "NNZ_PER_ROW", 256),
                                     s.count() == 3 ? s.seed(2, "SEED") : 1);
            }),
        make_recipe(
            {"rgg", "Graphs", "K[:seed=SEED]",
             "random geometric graph: 2^K points of a square, neighbours within 0.55 sqrt(ln n / "
             "n)",
             "Symmetric, random weights in (0, 1], no diagonal. About 0.95 n ln n nonzeros, n = "
             "2^K. As SuiteSparse's rgg_n_2_K; points are numbered by cells.",
             "10"},
            1, 1,
            []<class T>(const gallery_spec& s) {
                return rgg<T>(s.size(0, "K", 30), s.named_seed().value_or(1));
            }),
        make_recipe(
            {"rmat", "Graphs", "K[:EDGE_FACTOR][:seed=SEED]",
             "the edges of kron in one direction: not symmetric, power-law rows and columns",
             "Not symmetric, random weights in (0, 1], empty rows. At most EDGE_FACTOR 2^K "
             "nonzeros (duplicates merged, loops dropped). Chakrabarti, Zhan, Faloutsos, 2004, "
             "with Graph500's A = 0.57, B = C = 0.19.",
             "9:8"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                return rmat<T>(s.size(0, "K", 30), s.size_or(16, 1, "EDGE_FACTOR", 1024),
                               s.named_seed().value_or(1));
            }),
        make_recipe(
            {"road", "Graphs", "N[:seed=SEED]",
             "road network of N^2 crossings: about 3.1 N^2 rows, 2.3 nonzeros a row, planar",
             "Symmetric, random weights in (0, 1], no diagonal. Connected, at most 4 nonzeros a "
             "row, a diameter of several N. In the manner of SuiteSparse's road_usa and "
             "europe_osm.",
             "20"},
            1, 1,
            []<class T>(const gallery_spec& s) {
                return road<T>(s.size(0, "N", 17515, 2), s.named_seed().value_or(1));
            }),
        make_recipe(
            {"web", "Graphs", "N[:MEAN][:seed=SEED]",
             "links of N web pages: power-law rows and columns, 4 of 5 links within the host",
             "Not symmetric; rows sum to 1 (values 1 / links of the page). About MEAN (16) "
             "nonzeros a row, at most 8192. Hosts of 32 to 4096 pages in a row; links between "
             "hosts prefer popular ones. In the manner of web crawls (Boldi, Vigna, 2004).",
             "2000"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                return web<T>(s.size(0, "N", index_limit, 2),
                              s.count() < 2 ? 16 : s.size(1, "MEAN", 256, 2),
                              s.named_seed().value_or(1));
            }),
    };
    return recipes;
}

} // namespace krylith
