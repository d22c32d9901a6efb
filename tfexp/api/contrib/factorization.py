"""`tf.contrib.factorization`: k-means, mixtures of Gaussians, factors of sparse matrices."""

from tfexp.contributed.gaussian_mixture import GmmAlgorithm as GmmAlgorithm
from tfexp.contributed.gaussian_mixture import gmm as gmm
from tfexp.contributed.gaussian_mixture_estimator import GMM as GMM
from tfexp.contributed.kmeans_clustering import KMeansClustering as KMeansClustering
from tfexp.contributed.least_squares_factors import WALSModel as WALSModel
from tfexp.contributed.least_squares_factors_estimator import WALSMatrixFactorization as WALSMatrixFactorization
from tfexp.core.gone import missing_from
from tfexp.estimator.canned.kmeans_graph import COSINE_DISTANCE as COSINE_DISTANCE
from tfexp.estimator.canned.kmeans_graph import KMEANS_PLUS_PLUS_INIT as KMEANS_PLUS_PLUS_INIT
from tfexp.estimator.canned.kmeans_graph import RANDOM_INIT as RANDOM_INIT
from tfexp.estimator.canned.kmeans_graph import SQUARED_EUCLIDEAN_DISTANCE as SQUARED_EUCLIDEAN_DISTANCE
from tfexp.estimator.canned.kmeans_graph import KMeans as KMeans

__getattr__ = missing_from("tf.contrib.factorization")
